"""A study designed in a browser: its settings as fields, its files as they are edited, its pages as they will look."""
