"""Pages that show what their code prints and draws: it is run while the site is built.

A page whose front matter says `executed: true` has its blocks run in order, Python in one namespace and lines of
`similitude` as a shell would run them, in an empty folder. Below each block is what it printed, and the
pictures that it drew or wrote. A block that fails ends the build.
"""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import matplotlib.pyplot as plt
from typer.testing import CliRunner

from similitude.cli import app as similitude

PICTURES = "executed"  # the folder of pictures in docs/, made by the build
_EXECUTED = re.compile(r"\A---\n(?:.*\n)*?executed: true\n(?:.*\n)*?---\n")
_BLOCK = re.compile(r"^```(python|bash)\n(.*?)^```\n", re.DOTALL | re.MULTILINE)
_PYTHON = re.compile(r"^the same in Python:\n(?:  .*\n)+", re.MULTILINE)  # a tutorial has the Python beside it
_MOST_LINES = 30


def setup(app: Any) -> dict[str, bool]:
    """Connect to Sphinx."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": False}


def _read(app: Any, page: str, source: list[str]) -> None:
    if not _EXECUTED.match(source[0]):
        return
    pictures = Path(app.srcdir) / PICTURES / page
    shutil.rmtree(pictures, ignore_errors=True)
    pictures.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source[0] = with_results(source[0], pictures, f"/{PICTURES}/{page}")


def with_results(text: str, pictures: Path, address: str) -> str:
    """Return a page with what its blocks print and draw; they are run in the current folder."""
    namespace: dict[str, Any] = {"__name__": "page"}
    plt.switch_backend("agg")

    def result(block: re.Match[str]) -> str:
        before = _written()
        printed = _run_python(block[2], namespace) if block[1] == "python" else _run_lines(block[2])
        files = [_kept(file, pictures) for file in sorted(_written() - before)]
        drawn = files or _figures(pictures)
        plt.close("all")
        shown = "".join(f"\n![What the lines above draw]({address}/{name})\n" for name in drawn)
        return block[0] + _as_block(printed) + shown

    return _BLOCK.sub(result, text)


def _run_python(code: str, namespace: dict[str, Any]) -> str:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "a block of the page", "exec"), namespace)
    return printed.getvalue()


def _run_lines(text: str) -> str:
    printed = ""
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["similitude"]:
            with mock.patch.object(sys, "argv", words):  # how a command says that it is called
                done = CliRunner().invoke(similitude, words[1:], env={"COLUMNS": "110", "NO_COLOR": "1"})
            if done.exit_code not in (0, 3):  # 3: `check` found something worth a look
                raise RuntimeError(f"{line}: status {done.exit_code}\n{done.output}") from done.exception
            printed += _PYTHON.sub("the same in Python: ...\n", done.stdout)
    return printed


def _as_block(printed: str) -> str:
    lines = [line.rstrip() for line in printed.splitlines()]
    if len(lines) > _MOST_LINES:
        lines = [*lines[: _MOST_LINES - 1], "..."]
    return "\n```{code-block} text\n:class: output\n\n" + "\n".join(lines) + "\n```\n" if lines else ""


def _figures(pictures: Path) -> list[str]:
    """Save what is drawn and still open."""
    names = []
    for number in plt.get_fignums():
        names.append(_next_name(pictures))
        plt.figure(number).savefig(pictures / names[-1], dpi=110, bbox_inches="tight")
    return names


def _written() -> set[Path]:
    """The pictures in the folder; not those of a report, which has a page of its own."""
    return {file for file in Path().rglob("*.png") if file.parent.name != "figures"}


def _kept(file: Path, pictures: Path) -> str:
    """Keep a picture that a block wrote, at the size of a page."""
    from PIL import Image

    name = _next_name(pictures)
    with Image.open(file) as image:
        image.thumbnail((1000, 1000))
        image.save(pictures / name)
    return name


def _next_name(pictures: Path) -> str:
    return f"{len([*pictures.iterdir()])}.png"
