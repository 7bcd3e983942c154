"""The command `similitude compare`: two models, a model and a table of dissimilarities, or groups of raters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from similitude.cli.commands import Seed, app, load_model
from similitude.cli.kinds import DISTANCES, MODEL, expecting, is_model
from similitude.cli.output import progress, same_in_python
from similitude.cli.reading import Reading, reads_answers
from similitude.cli.targets import check_apart
from similitude.cli.usage import refuse_given

_USED = {"pandas as pd": "pd.", "rsatoolbox": "rsatoolbox."}
Metric = Literal["euclidean", "cosine", "correlation", "dot"]
Pictures = dict[Literal["distances", "maps"], Path | None]
Compared = Annotated[
    Path,
    typer.Argument(
        help="a model (.sim), dissimilarities, vectors, attributes (.csv, ...), RDMs (.hdf5); with --group, answers"
    ),
]


@app.command()
@reads_answers
def compare(
    ctx: typer.Context,
    first: Compared,
    second: Annotated[Path | None, typer.Argument(help="another; not with --group")] = None,
    group: Annotated[
        str | None, typer.Option(help="compare groups of raters in FIRST, a file of answers, by this column")
    ] = None,
    answers: Annotated[Path | None, typer.Option(help="answers on which both are scored")] = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="picture of the distances against each other")] = None,
    maps: Annotated[
        Path | None, typer.Option(help="picture of the two maps (with --group, of two groups) over each other")
    ] = None,
    metric: Annotated[
        Metric | None, typer.Option(help="of tables that hold vectors, not attributes: how alike two rows are")
    ] = None,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Say how far two models agree, or a model and a table; or, with --group, whether groups of raters differ."""
    import similitude as sm
    from similitude.plot.style import check_picture

    pictures: Pictures = {"distances": out, "maps": maps}
    for option, picture in (("--out", out), ("--maps", maps)):
        if picture is not None:
            check_picture(picture, option)
    check_apart([("--out", out), ("--maps", maps)], first, second, answers, reading.names)
    if group is not None:
        refuse_given(ctx, ("second", "answers", "metric"), "not with --group, which compares raters of FIRST alone")
        _groups(first, group, seed, reading, pictures)
        return
    if second is None:
        raise typer.BadParameter("expected two models or tables, or answers and --group", param_hint="SECOND")
    if answers is None:
        reading.refuse("of two models or tables no answers are read; give some to --answers, or leave it out")
    loaded = [_load(path) for path in (first, second)]
    c, steps = (None, []) if answers is None else reading.read(answers, models=[one for one, _ in loaded])
    with progress("draws", None) as step:
        found = sm.compare(
            loaded[0][0],
            loaded[1][0],
            c,
            metric=metric,
            random_state=seed,
            callback=lambda done, of: step(done, f"of {of:,}"),
        )
    typer.echo(str(found))
    given = ("" if c is None else ", c") + ("" if metric is None else f", metric={metric!r}")
    lines = [f"a = {loaded[0][1]}", f"b = {loaded[1][1]}", *steps]
    lines.append(f"found = sm.compare(a, b{given}, random_state={seed})")
    lines.append("print(found)")
    lines += _drawn(found, (first.stem, second.stem), pictures)
    text = "\n".join(lines)
    same_in_python(*lines, before=[f"import {name}" for name, sign in _USED.items() if sign in text])


def _drawn(found: Any, labels: tuple[str, str], pictures: Pictures) -> list[str]:
    """Draw the pictures that were asked for; return the Python that does."""
    import similitude as sm

    lines = []
    for kind, path in pictures.items():
        if path is not None:
            sm.plot.save(sm.plot.agreement(found, kind=kind, labels=labels), path)
            typer.echo(f"the picture of the {kind} is in {path}")
            lines.append(f"sm.plot.save(sm.plot.agreement(found, kind={kind!r}, labels={labels!r}), {str(path)!r})")
    return lines


def _groups(file: Path, column: str, seed: int, reading: Reading, pictures: Pictures) -> None:
    """Say whether groups of raters differ, or two conditions within raters; draw a map of each where asked for."""
    import similitude as sm
    from similitude.evaluate.rater_groups import grouped

    c, steps = reading.read(file)
    wanted = any(path is not None for path in pictures.values())
    try:
        names = grouped(c, column).names
        if wanted and len(names) != 2:
            raise ValueError(
                f"the pictures of --out and --maps show two groups, and {column!r} has {len(names)}; leave them out, "
                f"or keep the answers of two groups with --where '{column} != {names[-1]}'"
            )
        typer.echo(str(sm.compare_groups(c, column, random_state=seed)))
    except ValueError as error:
        raise ValueError(f"--group: {str(error).removeprefix('by: ')}") from None
    lines = [f"print(sm.compare_groups(c, {column!r}, random_state={seed}))"]
    same_in_python(*steps, *lines, *(_maps_of_groups(c, column, names, seed, pictures) if wanted else []))


def _maps_of_groups(c: Any, column: str, names: tuple[str, ...], seed: int, pictures: Pictures) -> list[str]:
    """Draw a map of each of two groups beside the other's; return the Python that does."""
    import similitude as sm

    conditions = [f"`{column}` == {name}" for name in names]
    maps = [sm.STE(2, random_state=seed).fit(sm.leave_out(c, where=condition)) for condition in conditions]
    fits = [
        f"{variable} = sm.STE(2, random_state={seed}).fit(sm.leave_out(c, where={condition!r}))"
        for variable, condition in zip("ab", conditions, strict=True)
    ]
    found = sm.compare(maps[0], maps[1], random_state=seed)
    return [
        *fits,
        f"found = sm.compare(a, b, random_state={seed})",
        *_drawn(found, (names[0], names[1]), pictures),
    ]


def _load(path: Path) -> tuple[Any, str]:
    """Return a model or a table, and the Python that reads it: with names where the first cell is no number."""
    if is_model(path):
        return load_model(path), f"sm.Similarity.load({str(path)!r})"
    if path.suffix.lower() in (".hdf5", ".h5"):
        from similitude.feedback.files.tools.rsatoolbox import read_rdms

        return read_rdms(path), f"rsatoolbox.rdm.load_rdm({str(path)!r}, file_type='hdf5')"
    with expecting(path, MODEL, DISTANCES):
        return _table(path)


def _table(path: Path) -> tuple[Any, str]:
    import pandas as pd

    from similitude.feedback.files.item_tables import read_item_table

    found = read_item_table(path)
    table = found.by_position() if found.header is None else found.by_item()
    square = table.shape[0] == table.shape[1] and all(map(pd.api.types.is_numeric_dtype, table.dtypes))
    named = found.header is not None and table.index.is_unique and len(table.columns)
    if not square and not named:
        rows, columns = table.shape
        raise ValueError(
            f"{path}: expected a square table of numbers, or items named in the first column and what is known of them "
            f"after it, found {rows} rows and {columns} columns"
        )
    return table, found.in_python(by_item=found.header is not None)
