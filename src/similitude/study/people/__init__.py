"""Raters as researchers deal with them: judged, left out and taken back in, noted about, asked anew, paid."""
