"""What is said of a study that cannot be served or asked; apart, so that a client needs no packages of a server."""

from __future__ import annotations


class StudyError(ValueError):
    """A study that cannot be served as it is written, or asked as one tries to; the message says what to change."""
