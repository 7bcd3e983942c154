"""How every command reads answers: the options that say how, in one place, and the one function that reads.

A command that reads answers is decorated with `reads_answers` and has a parameter `reading: Reading`; in its place it
gets the options below, each a field of `Reading`. What was understood is printed before anything is learned.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from similitude.cli.kinds import ANSWERS, ARRAYS, DISTANCES, expecting
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
    columns: Annotated[
        str | None, typer.Option(help='which column is which: odd="Odd one",a="Pic 1",b="Pic 2",...')
    ] = None
    names: Annotated[
        Path | None, typer.Option(help="table with what the answers call an item (a number) first, then its name")
    ] = None
    labels: Annotated[bool, typer.Option("--labels", help="whole numbers are names of items, not positions")] = False
    fold_names: Annotated[
        bool, typer.Option("--fold-names", help="names that differ by case, spaces, accents or .0 alone are one item")
    ] = False
    larger: Annotated[Larger | None, typer.Option(help="for ratings: what a larger number means")] = None
    drop_degenerate: Annotated[
        bool, typer.Option("--drop-degenerate", help="leave out rows that compare an item with itself")
    ] = False
    drop_rater: Annotated[list[str] | None, typer.Option(help="leave out a rater (again for each)")] = None
    drop_item: Annotated[list[str] | None, typer.Option(help="leave out an item (again for each)")] = None
    only_items: Annotated[list[str] | None, typer.Option(help="an item to keep (again for each); others go")] = None
    where: Annotated[list[str] | None, typer.Option(help='answers to keep, by a column: "age > 30"')] = None

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, by name, as plain values."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        found |= {} if self.names is None else {"names": str(self.names)}
        plain = {name: value.value if isinstance(value, StrEnum) else value for name, value in found.items()}
        return {name: value for name, value in plain.items() if value not in (None, False, [], ())}

    @property
    def arguments(self) -> dict[str, Any]:
        """Those of reading, as arguments of `sm.read_comparisons`."""
        read = {name: value for name, value in self.given.items() if name not in _LEFT_OUT}
        return {name: column_map(value) if name == "columns" else value for name, value in read.items()}

    @property
    def left_out(self) -> dict[str, Any]:
        """What is to be left out of the answers, as arguments of `leave_out`."""
        return {_LEFT_OUT[name]: value for name, value in self.given.items() if name in _LEFT_OUT}

    @property
    def in_shell(self) -> list[str]:
        """What was given as words of a command."""
        several = [(name, value if isinstance(value, list) else [value]) for name, value in self.given.items()]
        words = [(name, "" if one is True else f" {in_shell(one)}") for name, values in several for one in values]
        return [f"--{name.replace('_', '-')}{value}" for name, value in words]

    def refuse(self, why: str) -> None:
        """Refuse what was given, where no answers are read by it."""
        for words in self.in_shell:
            raise typer.BadParameter(why, param_hint=words.split()[0])

    def _as_in(self, models: Sequence[Any]) -> Reading:
        """The same, numbers being names where they are in a model: answers to its questions say what it says."""
        named = (name for model in models for name in getattr(model, "names", None) or ())
        return replace(self, labels=self.labels or (self.names is None and any(name.isdecimal() for name in named)))

    def read(self, *files: Path, models: Sequence[Any] = (), say: bool = True) -> tuple[Any, list[str]]:
        """Return the feedback in one file or in several together, and the lines of Python that read it.

        Numbers are read as the `models` have them that are asked about it. What was understood is printed first, unless
        the caller's own output must be alone (`say`).
        """
        import similitude as sm

        if len(files) == 1 and is_dataset(files[0]):
            replace(self, drop_rater=None, drop_item=None, only_items=None, where=None).refuse(
                f"{files[0]} is a folder of comparisons, which says all that itself; leave it out"
            )
            return self._rest(sm.ComparisonDataset(files[0]), [f"c = sm.ComparisonDataset({str(files[0])!r})"], say)
        given: Any = str(files[0]) if len(files) == 1 else [str(file) for file in files]
        arguments = self._as_in(models).arguments
        with contextlib.ExitStack() as reading:
            for file in files:
                reading.enter_context(expecting(file, ANSWERS, also=(DISTANCES, ARRAYS)))
            understood = sm.understand(given, **arguments)
        if say:
            typer.echo(in_words_of_the_shell(str(understood)))
        call = ", ".join([repr(given), *(f"{name}={value!r}" for name, value in arguments.items())])
        return self._rest(understood.comparisons, [f"c = sm.read_comparisons({call})"], say)

    def _rest(self, c: Any, lines: list[str], say: bool) -> tuple[Any, list[str]]:
        """Return what is left when raters, items and answers were left out as asked for."""
        import similitude as sm

        if not self.left_out:
            return c, lines
        if not isinstance(c, sm.Comparisons):
            raise ValueError(
                "a folder of comparisons is read in passes: leave out raters and items before it is written"
            )
        wanted = self.left_out
        try:
            left = sm.leave_out(c, **wanted)
        except ValueError as error:
            option = "--only-items" if self.only_items else "--drop-item"
            said = re.sub("^items: ", f"{option}: ", re.sub("^raters: ", "--drop-rater: ", str(error)))
            raise ValueError(said) from None
        for step in left.removed[len(c.removed) :] if say else ():
            typer.echo(f"left out: {step.why} ({len(step.comparisons):,} comparisons)")
        given = ", ".join(f"{name}={value!r}" for name, value in wanted.items())
        return left, [*lines, f"c = sm.leave_out(c, {given})"]


def is_dataset(path: Path) -> bool:
    """Whether a folder holds comparisons in Parquet files, not a file of answers per participant."""
    if not path.is_dir():
        return False
    suffixes = {one.suffix for one in path.iterdir()}
    return (path / "about.json").exists() or suffixes == {".parquet"}


def column_map(text: str) -> dict[str, str]:
    """Read `odd="Odd one",a=Pic1` as which column is which; quotes are needed around a comma or an equals sign alone.

    >>> column_map('odd="Odd, one",a=Pic 1')
    {'odd': 'Odd, one', 'a': 'Pic 1'}
    """
    found = {}
    for part in re.findall(r"""(?:[^,"']|"[^"]*"|'[^']*')+""", text):
        role, equals, column = part.partition("=")
        if not equals or not role.strip() or not column.strip():
            raise ValueError(f'columns: expected pairs such as odd="Odd one", found {part.strip()!r}')
        found[role.strip()] = column.strip().strip("\"'")
    return found


def in_words_of_the_shell(message: str) -> str:
    """A message of the library with the options of the command in place of arguments of Python."""
    message = re.sub(r"(^|: )(path|items|names): ", r"\1", message)
    for one in fields(Reading):
        option = f"--{one.name.replace('_', '-')}"
        message = re.sub(rf"\b{one.name}=True\b", option, message)
        message = re.sub(rf"(?m)(^|: ){one.name}: ", rf"\1{option}: ", message)
        message = re.sub(rf"\b{one.name}=\{{(.*?)\}}", lambda found: f"--columns {_pairs(found[1])}", message)
        message = re.sub(rf"\b{one.name}='(\w+)'", rf"{option} \1", message)
        message = re.sub(rf"\b{one.name}=(?=\W|$)", option, message)
    return message


def _pairs(inside: str) -> str:
    """`'odd': 'Odd one', ...` as a shell has it."""
    return re.sub(r"'([^']*)': '([^']*)'", r'\1="\2"', inside).replace(", ", ",")


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
