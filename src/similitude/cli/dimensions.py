"""`similitude dimensions`: from a file of answers to an atlas of the dimensions by which people seem to go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.commands import AnswersFiles, Jobs, Seed, app
from similitude.cli.kinds import FEATURES, expecting
from similitude.cli.learn import check_folders, pictures
from similitude.cli.output import in_shell, progress, same_in_python
from similitude.cli.reading import Reading, reads_answers
from similitude.cli.targets import beside


@app.command()
@reads_answers
def dimensions(
    files: AnswersFiles,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="folder to write (default: FILE without its ending, and _dimensions)"),
    ] = None,
    images: Annotated[Path | None, typer.Option(help="folder of pictures named as the items")] = None,
    attributes: Annotated[
        Path | None, typer.Option(help="table of what is known of the items: names first, then numbers or words")
    ] = None,
    dimension_names: Annotated[
        Path | None,
        typer.Option(help="table of your names: a dimension's number, or an item that has most of it, then the name"),
    ] = None,
    title: Annotated[str | None, typer.Option(help="title of the page")] = None,
    most: Annotated[int, typer.Option(min=1, help="most dimensions; those that are not needed are left out")] = 80,
    starts: Annotated[
        int, typer.Option(min=0, help="further fits that tell which dimensions come again; 0 tells nothing of it")
    ] = 5,
    halves: Annotated[int, typer.Option(min=0, help="splits of the answers into halves, fitted for the same")] = 2,
    folds: Annotated[
        int,
        typer.Option(min=0, help="parts that are held out in turn, to say how well answers are predicted; 0 for none"),
    ] = 3,
    figure_width: Annotated[
        float | None,
        typer.Option(min=40, max=1000, help="width of the figures in mm: 89 a column, 183 a page of most journals"),
    ] = None,
    jobs: Jobs = 1,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Learn non-negative dimensions, test which come again, and write an atlas: why two things are alike."""
    target = out or beside(files[0], "_dimensions")
    check_folders(target, images, "dimensions.html", *files, attributes, dimension_names, reading.names)
    if starts == 1:
        raise typer.BadParameter("expected 2 or more to compare, or 0 for none", param_hint="--starts")
    if folds == 1:
        raise typer.BadParameter("expected 2 or more parts to hold out, or 0 for none", param_hint="--folds")
    import similitude as sm

    c, steps = reading.read(*files)
    if not isinstance(c, sm.Comparisons):
        raise ValueError(f"{files[0]}: a folder of comparisons is learned by fit; dimensions takes answers")
    known, lines = (None, []) if attributes is None else _attributes(attributes, c)
    own = {} if dimension_names is None else _names(dimension_names)
    labels = c.names or [str(k) for k in range(c.n_items)]
    shown = {} if images is None else pictures(images, c, labels)
    with progress("fitting", None) as step:
        model = sm.NonNegativeEmbedding(most, random_state=seed)
        model.fit(c, callback=lambda number, objective: step(number, f"objective {objective:.4f}"))
    again = None
    if starts and model.n_dimensions_:
        again = sm.dimension_reproducibility(model, c, n_seeds=starts, n_halves=halves, random_state=seed, n_jobs=jobs)
    held_out = None
    if folds and model.n_dimensions_:
        held_out = sm.held_out_answers(model, c, n_folds=folds, random_state=seed, n_jobs=jobs)
    found = sm.describe_dimensions(
        model, c, attributes=known, reproducibility=again, names=own, held_out=held_out, random_state=seed
    )
    heading = title or f"Why things are alike: {files[0].stem}"
    given: dict[str, Any] = {
        "--out": out, "--images": images, "--attributes": attributes, "--dimension-names": dimension_names,
        "--title": title, "--figure-width": None if figure_width is None else f"{figure_width:g}",
    }  # fmt: skip
    options = [f"{name} {in_shell(value)}" for name, value in given.items() if value is not None] + reading.in_shell
    options += [f"--most {most} --starts {starts} --halves {halves} --folds {folds} --seed {seed}"]
    command = " ".join(["similitude dimensions", *map(in_shell, files), *options])
    page = sm.write_dimensions(found, target, heading, images=shown, figure_width=figure_width, command=command)
    for sentence in found.sentences():
        typer.echo(sentence)
    others = "model, tables and figures" if len(found.table) else "model and tables"
    typer.echo(f"{page}: the atlas; {others} are beside it")
    lines += [f"model = sm.NonNegativeEmbedding({most}, random_state={seed}).fit(c)"]
    if again is not None:
        lines += [
            f"again = sm.dimension_reproducibility(model, c, n_seeds={starts}, n_halves={halves}, random_state={seed})"
        ]
    if held_out is not None:
        lines += [f"held_out = sm.held_out_answers(model, c, n_folds={folds}, random_state={seed})"]
    more = {"attributes": known, "reproducibility": again, "held_out": held_out}
    words = {"attributes": "attributes", "reproducibility": "again", "held_out": "held_out"}
    described = [f"{name}={words[name]}" for name, value in more.items() if value is not None]
    described += [f"names={own!r}"] if own else []
    lines += [f"found = sm.describe_dimensions({', '.join(['model', 'c', *described, f'random_state={seed}'])})"]
    drawn = [f"images={str(images)!r}"] if images is not None else []
    drawn += [f"figure_width={figure_width:g}"] if figure_width is not None else []
    lines += [f"sm.write_dimensions({', '.join(['found', repr(str(target)), repr(heading), *drawn])})"]
    same_in_python(*steps, *lines, before=["import pandas as pd"] if known is not None else [])


def _attributes(path: Path, c: Any) -> tuple[Any, list[str]]:
    """A table of attributes of the items that the answers are about, and the Python that reads it."""
    from similitude.evaluate.attributes import as_attributes
    from similitude.feedback.files.item_tables import read_item_table

    with expecting(path, FEATURES):
        found = read_item_table(path)
        table = found.by_item()
        if not len(table.columns):
            raise ValueError(f"{path}: expected the items' names in the first column and attributes after it")
    try:
        as_attributes(table, c.names, c.n_items)  # now, not after all the fits
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix('attributes: ')}") from None
    return table, [f"attributes = {found.in_python()}"]


def _names(path: Path) -> dict[str, str]:
    """A table of names: the number of a dimension, or an item that has most of it, then the name."""
    from similitude.feedback.files.item_tables import read_item_table

    found = read_item_table(path)
    table = found.texts()
    if table.shape[1] != 2:
        raise ValueError(
            f"--dimension-names: {path} has {table.shape[1]} columns, expected two: the number of a dimension, or an "
            "item that has most of it, and its name"
        )
    first = found.header if found.header and found.header[0].strip().lower() not in ("dimension", "item") else None
    rows = [(key.strip(), name.strip()) for key, name in [*([first] if first else []), *table.to_numpy().tolist()]]
    return {key: name for key, name in rows if name}
