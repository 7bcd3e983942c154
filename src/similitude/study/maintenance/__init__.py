"""What a researcher does with the answers that are kept: export, back up, bring back, erase a rater, count anew."""
