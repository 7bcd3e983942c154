"""What the command line prints: summaries, tables, progress, and the Python that does the same."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from math import isfinite
from typing import Any

import typer


def summary(value: Any) -> str:
    """What feedback or a model says of itself."""
    return str(value).strip("<>")


def in_shell(text: object, system: str = os.name) -> str:
    """A word as the shell of this system takes it: in quotes where it must be."""
    return subprocess.list2cmdline([str(text)]) if system == "nt" else shlex.quote(str(text))


def write_unicode() -> None:
    """Write UTF-8 to a pipe or a file on every system: Windows' own code page lacks most names that items have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8")


def same_in_python(*lines: str, before: tuple[str, ...] | list[str] = ()) -> None:
    """Print the Python that does the same."""
    typer.echo("the same in Python:")
    for line in (*before, "import similitude as sm", *lines):
        typer.secho(f"  {line}", dim=True)


def show(table: Any, score: str = "accuracy") -> None:
    """Print the table of `cross_validate`; `score` is what its first figure is called."""
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    shown.add_column("method", no_wrap=True)
    for heading in (score, "95% interval", "log-loss", "whole\nanswers", "their\nlog-loss", "seconds\na fit"):
        shown.add_column(heading, justify="right", no_wrap=True)
    for row in table.itertuples():
        figures = (row.log_loss, row.answer_accuracy, row.answer_log_loss)
        told = ["-" if figure != figure else f"{figure:.3f}" for figure in figures]
        interval = f"{row.low:.3f} to {row.high:.3f}"
        shown.add_row(row.estimator, f"{row.accuracy:.3f}", interval, *told, f"{row.seconds:.2f}")
    console = Console()
    needed = console.measure(shown, options=console.options.update_width(1000)).maximum
    console.size = max(console.width, needed), console.height  # a figure that is cut is a wrong one
    console.print(shown)


@contextmanager
def progress(what: str, total: int | None) -> Iterator[Any]:
    """Show a bar with the time left on a terminal, nothing elsewhere."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = [TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()]
    columns += [TimeRemainingColumn()] if total else []
    with Progress(*columns, TextColumn("{task.fields[note]}"), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total, note="")
        yield lambda done, note: bar.update(task, completed=done, note=note)


@contextmanager
def phases(time_limit: float) -> Iterator[Any]:
    """Show what is being done, how far it is, and how much of the time limit is left; a line for each part in a pipe.

    Gives a function of what is done, the parts done, and of how many.
    """
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    console, end, begun = Console(stderr=True), time.monotonic() + time_limit, list[str]()
    bar = Progress(TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"), console=console)
    with bar if console.is_terminal else nullcontext():

        def step(what: str, done: int, of: int) -> None:
            seconds = max(end - time.monotonic(), 0.0)
            left = f"at most {seconds:.0f} s left" if isfinite(seconds) else ""
            if not begun or begun[-1] != what:
                begun.append(what)
                if console.is_terminal:
                    bar.add_task(what, total=None, left=left)
                else:
                    typer.echo(what)
            if console.is_terminal:
                bar.update(bar.task_ids[-1], completed=done, total=of or None, left=left)

        yield step
