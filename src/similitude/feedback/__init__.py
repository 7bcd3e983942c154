"""What people said: comparisons, links and labels, from every form of question."""
