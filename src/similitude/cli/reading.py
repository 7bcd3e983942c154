"""How every command reads answers: the options that say how, in one place, and the one function that reads.

A command that reads answers is decorated with `reads_answers` and has a parameter `reading: Reading`; in its place it
gets the options below, each a field of `Reading`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from similitude.cli.output import in_shell

_LEFT_OUT = {"drop_rater": "raters", "drop_item": "items", "only_items": "only_items", "where": "where"}


class Larger(StrEnum):
    """What a larger rating means."""

    similar = "similar"
    different = "different"


@dataclass(frozen=True)
class Reading:
    """What a user says about a file of answers: a field for each option of a command that reads one."""

    form: Annotated[
        str | None, typer.Option(help="form of question, where the file does not say (odd_one_out, ...)")
    ] = None
    larger: Annotated[Larger | None, typer.Option(help="for ratings: what a larger number means")] = None
    drop_rater: Annotated[list[str] | None, typer.Option(help="leave out a rater (again for each)")] = None
    drop_item: Annotated[list[str] | None, typer.Option(help="leave out an item (again for each)")] = None
    only_items: Annotated[list[str] | None, typer.Option(help="an item to keep (again for each); others go")] = None
    where: Annotated[list[str] | None, typer.Option(help='answers to keep, by a column: "age > 30"')] = None

    @property
    def given(self) -> dict[str, Any]:
        """The options of reading that were given, by name, as plain values."""
        return {name: value for name, value in self._all.items() if name not in _LEFT_OUT}

    @property
    def left_out(self) -> dict[str, Any]:
        """What is to be left out of the answers, as arguments of `leave_out`."""
        return {_LEFT_OUT[name]: value for name, value in self._all.items() if name in _LEFT_OUT}

    @property
    def _all(self) -> dict[str, Any]:
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        plain = {name: value.value if isinstance(value, StrEnum) else value for name, value in found.items()}
        return {name: value for name, value in plain.items() if value not in (None, False, [], ())}

    @property
    def in_shell(self) -> list[str]:
        """The same as words of a command."""
        several = [(name, value if isinstance(value, list) else [value]) for name, value in self._all.items()]
        return [f"--{name.replace('_', '-')} {in_shell(one)}" for name, values in several for one in values]

    def read(self, *files: Path) -> tuple[Any, list[str]]:
        """Return the feedback in one file or in several together, and the lines of Python that read it."""
        import similitude as sm

        parts = [self._read(file) for file in files]
        if len(parts) == 1:
            return self._rest(parts[0][0], [f"c = {parts[0][1]}"])
        calls = ", ".join(call for _, call in parts)
        c = sm.Comparisons.concatenate([part for part, _ in parts])
        return self._rest(c, [f"c = sm.Comparisons.concatenate([{calls}])"])

    def _rest(self, c: Any, lines: list[str]) -> tuple[Any, list[str]]:
        """Return what is left when raters, items and answers were left out as asked for."""
        import similitude as sm

        if not self.left_out:
            return c, lines
        if not isinstance(c, sm.Comparisons):
            raise ValueError(
                "a folder of comparisons is read in passes: leave out raters and items before it is written"
            )
        left = sm.leave_out(c, **self.left_out)
        for step in left.removed[len(c.removed) :]:
            typer.echo(f"left out: {step.why} ({len(step.comparisons):,} comparisons)")
        given = ", ".join(f"{name}={value!r}" for name, value in self.left_out.items())
        return left, [*lines, f"c = sm.leave_out(c, {given})"]

    def _read(self, file: Path) -> tuple[Any, str]:
        import similitude as sm

        if file.is_dir():
            return sm.ComparisonDataset(file), f"sm.ComparisonDataset({str(file)!r})"
        call = ", ".join([repr(str(file)), *(f"{name}={value!r}" for name, value in self.given.items())])
        return sm.read_comparisons(file, **self.given), f"sm.read_comparisons({call})"


def reads_answers(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command with a parameter `reading` the options of `Reading` instead."""
    options = get_type_hints(Reading, include_extras=True)
    defaults = {one.name: one.default for one in fields(Reading)}

    @functools.wraps(command)
    def run(**arguments: Any) -> None:
        said = {name: arguments.pop(name) for name in defaults}
        command(**arguments, reading=Reading(**said))

    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "reading"]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=options[name])
        for name, default in defaults.items()
    ]
    named = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own]
    run.__signature__ = inspect.Signature([*named, *added])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in (*own, *added)}
    return run
