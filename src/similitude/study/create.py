"""New studies: a folder with all that a study may say, ready to be edited; and one of colours, ready to click."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template

from similitude.feedback.files.whole import write_whole
from similitude.study.settings import FILE, StudyError, check_name

_COLOUR_STUDY = """\
# Colours, ready to click. `similitude study new` makes a study of your own, with every key explained.
title = "Which colours are alike?"
break_every = 20

[question]
form = "triplet"
number = 40

[items]
table = "colours.csv"
"""


def new_study(folder: Path) -> list[Path]:
    """Write `study.toml`, its pages and an empty folder of items; returns what was written. Nothing is overwritten."""
    title = check_name(folder).replace("-", " ").replace("_", " ").capitalize()
    source = resources.files("similitude.study") / "started"
    toml = Template((source / FILE).read_text(encoding="utf-8")).substitute(title=title)
    files = {FILE: toml} | {
        name: source.joinpath(name).read_text(encoding="utf-8")
        for name in ("consent.md", "instructions.md", "items/README.txt")
    }
    return _write(folder, files)


def colour_study(folder: Path, colours: Mapping[str, str]) -> list[Path]:
    """Write a study of colours, given as #rrggbb by name."""
    check_name(folder)
    source = resources.files("similitude.study") / "started"
    pages = {name: source.joinpath(name).read_text(encoding="utf-8") for name in ("consent.md", "instructions.md")}
    table = io.StringIO()
    csv.writer(table).writerows([("name", "colour"), *colours.items()])
    return _write(folder, {FILE: _COLOUR_STUDY, **pages, "colours.csv": table.getvalue()})


def _write(folder: Path, files: Mapping[str, str]) -> list[Path]:
    targets = {folder / name: text for name, text in files.items()}
    if (folder / FILE).exists():
        raise StudyError(f"{folder}: there is a {FILE} already; it was left as it is")
    for path, text in targets.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists():
            write_whole(path, text.encode())
    return list(targets)
