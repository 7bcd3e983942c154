"""`similitude learn`: from a file of answers to a folder with the model, tables, figures and one report."""

from __future__ import annotations

import math
import re
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.commands import AnswersFiles, Jobs, Seed, app, pictures_of
from similitude.cli.fitting import Features, known_features
from similitude.cli.output import in_shell, phases, same_in_python
from similitude.cli.reading import Reading, reads_answers
from similitude.cli.targets import beside, check_apart

_CLASS = ("class", "category", "kind", "group", "label")  # what a column of classes is called
_FILES = (".html", ".htm", ".pdf", ".sim", ".csv", ".xlsx", ".zip")  # of which no folder is called
_FEW_CLASSES = 2  # items that may well be of a class each
_DRAWING, _PER_ITEM, _MOST = 3.0, 0.02, 0.4  # seconds for writing, in all and per item; at most this share of the time


@app.command()
@reads_answers
def learn(
    files: AnswersFiles,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder to write (default: FILE without its ending, and _report)")
    ] = None,
    features: Features = None,
    images: Annotated[Path | None, typer.Option(help="folder of pictures named as the items")] = None,
    classes: Annotated[
        Path | None, typer.Option(help="table of classes, by which the map is coloured: names first, a column `class`")
    ] = None,
    title: Annotated[str | None, typer.Option(help="title of the report")] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="CKL, TSTE, STE, SOE, GNMDS, ChoiceEmbedding, FeatureEmbedding or NonNegativeEmbedding; else chosen"
        ),
    ] = None,
    dimensions: Annotated[int | None, typer.Option(min=1, help="number of dimensions; else chosen")] = None,
    penalty: Annotated[float | None, typer.Option(min=0, help="penalty of the method; else chosen")] = None,
    average: Annotated[bool, typer.Option("--average", help="an average of several fits instead of one model")] = False,
    figure_width: Annotated[
        float | None,
        typer.Option(min=40, max=1000, help="width of the figures in mm: 89 a column, 183 a page of most journals"),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=1, help="seconds for everything, reading and drawing too; what it ends is left out")
    ] = 60.0,
    jobs: Jobs = 1,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Choose a model, learn it, and write a report: one HTML page, with tables, figures and the model beside it."""
    began = time.monotonic()
    from similitude.settings import check_seconds

    check_seconds("--time-limit", time_limit)
    target = out or beside(files[0], "_report")
    check_folders(target, images, "report.html", *files, features, classes, reading.names)
    import similitude as sm

    c, steps = reading.read(*files)
    if not isinstance(c, sm.Comparisons):
        raise ValueError(f"{files[0]}: a folder of comparisons is learned by fit; learn takes answers")
    known, lines, before = known_features(features, c)
    labels = c.names or [str(k) for k in range(c.n_items)]
    shown = {} if images is None else pictures(images, c, labels)
    grouped, in_python = ({}, []) if classes is None else _classes(classes, labels)
    wanted: dict[str, Any] = {"method": method, "n_components": dimensions, "penalty": penalty, "average": average}
    settings = {name: value for name, value in wanted.items() if value is not None and value is not False}
    settings["time_limit"] = time_limit
    work = sm.learn  # loads what computes, which is part of the time
    so_far = time.monotonic() - began
    left = max(time_limit - so_far - _drawing(time_limit, c.n_items, so_far), 0.1)
    with phases(left) as step:
        found = work(c, **known, **settings | {"time_limit": left}, random_state=seed, n_jobs=jobs, step=step)
        step("writing the report", 0, 0)
        heading = title or f"What people find similar: {files[0].stem}"
        width = None if figure_width is None else f"{figure_width:g}"
        given: dict[str, Any] = {
            "--out": out, "--features": features, "--images": images, "--classes": classes, "--title": title,
            "--method": method, "--dimensions": dimensions, "--penalty": penalty, "--figure-width": width,
        }  # fmt: skip
        options = [f"{name} {in_shell(value)}" for name, value in given.items() if value is not None]
        options += ["--average"] * average + reading.in_shell
        command = " ".join(
            ["similitude learn", *map(in_shell, files), *options, f"--time-limit {time_limit:g} --seed {seed}"]
        )
        absent: list[str] = []
        report = found.save(
            target, heading, images=shown, colours=_colours(c.names), classes=grouped, command=command,
            source=[file.name for file in files], figure_width=figure_width,
            time_limit=time_limit - (time.monotonic() - began), tell=absent.append,
        )  # fmt: skip
    typer.echo(f"{report}: the report; model, tables and figures are beside it")
    for sentence in absent:
        typer.echo(f"not written: {sentence}")
    _say_time(time.monotonic() - began, time_limit, found.left_out)
    if found.chosen.ended == "interrupted":
        typer.echo("interrupted: the choice among settings, and the report says so; done again it may choose otherwise")
    with_features = "features=features, " if known else ""
    endless = {math.inf: "float('inf')"}
    said = ", ".join(f"{name}={endless.get(value) or repr(value)}" for name, value in settings.items())
    call = f"sm.learn(c, {with_features}{said}, random_state={seed})"
    look = ", classes=classes" if grouped else ""
    look += "" if figure_width is None else f", figure_width={width}"
    before = before or ["import pandas as pd"] * bool(in_python)
    same_in_python(*steps, *lines, *in_python, f"{call}.save({str(target)!r}, {heading!r}{look})", before=before)


def check_folders(target: Path, images: Path | None, page: str, *inputs: Path | None) -> None:
    """Refuse, before any work, a folder that cannot be written, or where what is read would be written over.

    One of pictures that is not there is refused, too.
    """
    from similitude.analysis.whole_folder import BESIDE, PARTS, check_folder

    check_folder(target, page, "--out")
    if target.suffix.lower() in _FILES and not target.is_dir():
        raise ValueError(f"--out: expected the name of a folder, found that of a file, {target.name!r}")
    check_apart([("--out", target / name) for name in (page, *BESIDE, *PARTS)], *inputs)
    check_apart([("--out", target / part) for part in PARTS], images)
    if images is not None and not images.is_dir():
        raise ValueError(f"--images: {images} is {'a file' if images.exists() else 'not there'}; expected a folder")


def pictures(folder: Path, c: Any, labels: Any) -> dict[str, Path]:
    """Pictures by the items' names; each can be opened, and who has none is said."""
    found = {labels[k]: path for k, path in pictures_of(folder, c).items()}
    if missing := [name for name in labels if name not in found]:
        typer.echo(f"note: no picture for {len(missing)} of {len(labels)} items ({', '.join(missing[:5])})", err=True)
    return found


def _classes(path: Path, labels: Any) -> tuple[dict[str, str], list[str]]:
    """A class by the name of each item that has one, from a column of a table, and the Python that reads it."""
    from similitude.feedback.files.item_tables import read_item_table

    found = read_item_table(path)
    table = found.texts()
    if len(table.columns) < 2:
        raise ValueError(f"{path.name}: expected the items' names in the first column and a class in the second")
    if not set(table.iloc[:, 0]) & set(labels):
        raise ValueError(f"{path.name}: no row is about an item of the answers ({labels[0]}, ...)")
    column = _class_column(path, table)
    of = dict(zip(table.iloc[:, 0], table[column], strict=True))
    read = f"{found.in_python(words=True)}[{column!r}]"
    return {name: of[name] for name in labels if of.get(name)}, [f"classes = {read}.to_dict()"]


def _class_column(path: Path, table: Any) -> str:
    """The column of classes: one that is called so, else the first that groups the items, which is then said."""
    others = [str(name) for name in table.columns[1:]]
    called = [name for name in others if name.strip().lower() in _CLASS]
    grouping = [name for name in others if not _all_differ(table[name])]
    column = (called or grouping or others)[0]
    if _all_differ(table[column]):
        raise ValueError(
            f"{path.name}: every item has another value in column {column!r}, so it is no class; expected a column "
            "whose values several items share"
        )
    if not called and len(others) > 1:
        typer.echo(
            f"note: classes are those of column {column!r} of {path.name}; call the one you want 'class'", err=True
        )
    return column


def _all_differ(values: Any) -> bool:
    said = [value for value in values if value]
    return len(said) > _FEW_CLASSES and len(set(said)) == len(said)


def _drawing(time_limit: float, n_items: int, so_far: float) -> float:
    """Seconds to keep for writing the report: as long as loading took at least, which a busy machine makes long."""
    return min(max(_DRAWING + _PER_ITEM * n_items, so_far), _MOST * time_limit)


def _say_time(took: float, time_limit: float, left_out: tuple[str, ...]) -> None:
    """Say what the limit ended, and whether it was too short for what no report can do without."""
    if left_out:
        typer.echo(f"no time for: {', '.join(left_out)}; a longer --time-limit adds it")
    if took > 1.1 * time_limit:
        needed = "checking, one round of choosing and drawing take that long here, and a first run compiles as well"
        typer.echo(f"it took {took:.0f} s, longer than --time-limit {time_limit:g}: {needed}")


def _colours(names: Any) -> dict[str, str]:
    """Items that are called #rrggbb are shown in that colour."""
    return {name: name for name in names or () if re.fullmatch("#[0-9a-fA-F]{6}", name)}
