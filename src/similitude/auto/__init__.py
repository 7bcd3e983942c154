"""Choosing a method, its penalty and its dimension on held-out answers."""
