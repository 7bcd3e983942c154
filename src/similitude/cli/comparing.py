"""The command `similitude compare`: two models, a model and a table of dissimilarities, or groups of raters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from similitude.cli.commands import Seed, app, load_model
from similitude.cli.kinds import DISTANCES, MODEL, expecting, is_model, is_number
from similitude.cli.output import same_in_python
from similitude.cli.reading import Reading, reads_answers
from similitude.feedback.files.spreadsheets import as_written

Compared = Annotated[
    Path, typer.Argument(help="a model (.sim), or a table of dissimilarities (.csv, .tsv); with --group, answers")
]


@app.command()
@reads_answers
def compare(
    first: Compared,
    second: Annotated[Path | None, typer.Argument(help="another; not with --group")] = None,
    group: Annotated[
        str | None, typer.Option(help="compare groups of raters in FIRST, a file of answers, by this column")
    ] = None,
    answers: Annotated[Path | None, typer.Option(help="answers on which both are scored")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="picture of the distances against each other")] = None,
    maps: Annotated[Path | None, typer.Option(help="picture of the two maps over each other")] = None,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Say how far two models agree, or a model and a table; or, with --group, whether groups of raters differ."""
    import similitude as sm

    if group is not None:
        _groups(first, group, seed, reading)
        return
    if second is None:
        raise typer.BadParameter("expected two models or tables, or answers and --group", param_hint="SECOND")
    loaded = [_load(path) for path in (first, second)]
    c, steps = (None, []) if answers is None else reading.read(answers)
    found = sm.compare(loaded[0][0], loaded[1][0], c, random_state=seed)
    typer.echo(str(found))
    given = "" if c is None else ", c"
    lines = [f"a = {loaded[0][1]}", f"b = {loaded[1][1]}", *steps]
    lines.append(f"found = sm.compare(a, b{given}, random_state={seed})")
    lines.append("print(found)")
    pictures: dict[Literal["distances", "maps"], Path | None] = {"distances": out, "maps": maps}
    for kind, path in pictures.items():
        if path is not None:
            labels = (first.stem, second.stem)
            sm.plot.save(sm.plot.agreement(found, kind=kind, labels=labels), path)
            typer.echo(f"the picture of the {kind} is in {path}")
            lines.append(f"sm.plot.save(sm.plot.agreement(found, kind={kind!r}, labels={labels!r}), {str(path)!r})")
    tables = any(path.suffix != ".sim" for path in (first, second))
    same_in_python(*lines, before=["import pandas as pd"] if tables else [])


def _groups(file: Path, column: str, seed: int, reading: Reading) -> None:
    """Say whether groups of raters differ, or two conditions within raters."""
    import similitude as sm

    c, steps = reading.read(file)
    try:
        typer.echo(str(sm.compare_groups(c, column, random_state=seed)))
    except ValueError as error:
        raise ValueError(f"--group: {str(error).removeprefix('by: ')}") from None
    same_in_python(*steps, f"print(sm.compare_groups(c, {column!r}, random_state={seed}))")


def _load(path: Path) -> tuple[Any, str]:
    """Return a model or a table, and the Python that reads it: with names where the first cell is no number."""
    if is_model(path):
        return load_model(path), f"sm.Similarity.load({str(path)!r})"
    with expecting(path, MODEL, DISTANCES):
        return _table(path)


def _table(path: Path) -> tuple[Any, str]:
    import pandas as pd

    separator = "\t" if path.suffix == ".tsv" else ","
    with path.open(encoding="utf-8-sig") as file:
        cell = file.readline().split(separator)[0].strip()
    options: dict[str, Any] = {"header": None} if is_number(cell) else {"index_col": 0}
    options |= {"sep": separator} if separator != "," else {}
    table = pd.read_csv(path, **options).rename(index=as_written, columns=as_written)
    if table.shape[0] != table.shape[1] or not all(map(pd.api.types.is_numeric_dtype, table.dtypes)):
        rows, columns = table.shape
        raise ValueError(f"{path}: expected a square table of numbers, found {rows} rows and {columns} columns")
    call = ", ".join([repr(str(path)), *(f"{name}={value!r}" for name, value in options.items())])
    return table, f"pd.read_csv({call})"
