"""What a shell would do, in the process of the tests: a command takes as long as its work, not as its imports."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from similitude import cli


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


@contextlib.contextmanager
def fresh_process(folder: Path, *arguments: str):
    """Stand in a folder with these arguments, plain output, and warnings that are no errors."""
    environment = {"NO_COLOR": "1", "COLUMNS": "120", "MPLBACKEND": "agg"}
    with (
        contextlib.chdir(folder),
        mock.patch.dict(os.environ, environment),
        mock.patch.object(sys, "argv", ["similitude", *arguments]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("default")
        yield


def run(*arguments: object, folder: Path, check: bool = True) -> Done:
    """Run the command line; it must end well unless `check` is off."""
    out, err = io.StringIO(), io.StringIO()
    with (
        fresh_process(folder, *map(str, arguments)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            cli.main()
            status = 0
        except SystemExit as end:
            status = end.code or 0
    if check:
        assert status == 0, err.getvalue()
    return Done(status, out.getvalue(), err.getvalue())


def run_python(code: str, folder: Path) -> None:
    """Run what a command printed as the same in Python; its pictures go to files, and are closed."""
    with fresh_process(folder), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(code, "<printed by a command>", "exec"), {"__name__": "printed"})
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
