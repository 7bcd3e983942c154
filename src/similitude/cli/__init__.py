"""The command line `similitude`."""

from similitude.cli.commands import app, main

__all__ = ["app", "main"]
