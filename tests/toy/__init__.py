"""A form of question as somebody else would bring it: one Python file, one script for its page, one entry point."""
