"""The command line `similitude`."""

from similitude.cli import asking as asking
from similitude.cli import study as study
from similitude.cli.commands import app, main

__all__ = ["app", "main"]
