"""`similitude study`: the commands of a study."""

from __future__ import annotations

import typer

from similitude.cli.commands import app as whole

app = typer.Typer(help="Ask people: a web study that learns live and loses nothing.", no_args_is_help=True)
whole.add_typer(app, name="study")
