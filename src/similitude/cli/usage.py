"""What Typer makes of wrong usage, in our words: every group and command of the command line is made by `Commands`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


def refuse_given(ctx: typer.Context, names: Collection[str], why: str) -> None:
    """Refuse options that were given, by the names of their parameters, where something else leaves them unread."""
    params: list[Any] = list(ctx.command.params)
    for param in params:
        source = ctx.get_parameter_source(param.name)
        if param.name in names and source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP"):
            raise typer.BadParameter(why, ctx=ctx, param=param)


class Commands(typer.Typer):
    """Commands whose usage errors are plain sentences, and to which an empty path is none."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=_Group, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[Any], Any]:
        """Register a command."""
        return super().command(name, cls=_Command, **settings)


class _Group(TyperGroup):
    def invoke(self, ctx: Any) -> Any:
        """Run a command; what its options cannot be is said without the words of the library that found out."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = error.message.removeprefix("Value error, ")
            raise


class _Command(TyperCommand):
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Refuse an empty path, as of a variable that is not set: Python takes it for the folder that one is in."""
        given = [one.partition("=")[2] if one.startswith("--") and "=" in one else one for one in args]
        rest = super().parse_args(ctx, args)
        params: list[Any] = list(self.params) if "" in given and "." not in given else []
        for param in params:
            value = ctx.params.get(param.name)
            found = value if isinstance(value, (list, tuple)) else [value]
            as_text = "" in found and getattr(getattr(param, "type", None), "name", "") == "path"  # of older Typers
            if as_text or Path() in found:
                raise typer.BadParameter(
                    "found an empty path (is a variable not set?); expected a file or folder: . is the one you are in",
                    ctx=ctx,
                    param=param,
                )
        return rest
