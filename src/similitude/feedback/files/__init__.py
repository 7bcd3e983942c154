"""Answers in files: `read_write` is the way in and out, `tables` the formats, `layouts` and `native` the columns."""
