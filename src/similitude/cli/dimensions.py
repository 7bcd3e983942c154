"""`similitude dimensions`: from a file of answers to an atlas of the dimensions by which people seem to go."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.commands import AnswersFiles, Seed, app
from similitude.cli.kinds import FEATURES, expecting
from similitude.cli.learn import check_folders, pictures
from similitude.cli.output import in_shell, progress, same_in_python
from similitude.cli.reading import Reading, reads_answers


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
    title: Annotated[str | None, typer.Option(help="title of the page")] = None,
    most: Annotated[int, typer.Option(min=1, help="most dimensions; those that are not needed are left out")] = 80,
    starts: Annotated[
        int, typer.Option(min=0, help="further fits that tell which dimensions come again; 0 tells nothing of it")
    ] = 5,
    halves: Annotated[int, typer.Option(min=0, help="splits of the answers into halves, fitted for the same")] = 2,
    figure_width: Annotated[
        float | None,
        typer.Option(min=40, max=1000, help="width of the figures in mm: 89 a column, 183 a page of most journals"),
    ] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="processes")] = 1,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Learn non-negative dimensions, test which come again, and write an atlas: why two things are alike."""
    target = out or files[0].with_name(f"{files[0].name.split('.')[0]}_dimensions")
    check_folders(target, images, "dimensions.html")
    if starts == 1:
        raise typer.BadParameter("expected 2 or more to compare, or 0 for none", param_hint="--starts")
    import similitude as sm

    c, steps = reading.read(*files)
    if not isinstance(c, sm.Comparisons):
        raise ValueError(f"{files[0]}: a folder of comparisons is learned by fit; dimensions takes answers")
    known, lines = (None, []) if attributes is None else _attributes(attributes, c)
    labels = c.names or [str(k) for k in range(c.n_items)]
    shown = {} if images is None else pictures(images, c, labels)
    with progress("fitting", None) as step:
        model = sm.NonNegativeEmbedding(most, random_state=seed)
        model.fit(c, callback=lambda number, objective: step(number, f"objective {objective:.4f}"))
    again = None
    if starts and model.n_dimensions_:
        again = sm.dimension_reproducibility(model, c, n_seeds=starts, n_halves=halves, random_state=seed, n_jobs=jobs)
    found = sm.describe_dimensions(model, c, attributes=known, reproducibility=again, random_state=seed)
    heading = title or f"Why things are alike: {files[0].stem}"
    given: dict[str, Any] = {
        "--out": out, "--images": images, "--attributes": attributes, "--title": title,
        "--figure-width": None if figure_width is None else f"{figure_width:g}",
    }  # fmt: skip
    options = [f"{name} {in_shell(value)}" for name, value in given.items() if value is not None] + reading.in_shell
    options += [f"--most {most} --starts {starts} --halves {halves} --seed {seed}"]
    command = " ".join(["similitude dimensions", *map(in_shell, files), *options])
    page = sm.write_dimensions(found, target, heading, images=shown, figure_width=figure_width, command=command)
    for sentence in found.sentences():
        typer.echo(sentence)
    typer.echo(f"{page}: the atlas; model, tables and figures are beside it")
    lines += [f"model = sm.NonNegativeEmbedding({most}, random_state={seed}).fit(c)"]
    if again is not None:
        lines += [
            f"again = sm.dimension_reproducibility(model, c, n_seeds={starts}, n_halves={halves}, random_state={seed})"
        ]
    with_again = ", reproducibility=again" if again is not None else ""
    with_known = ", attributes=attributes" if known is not None else ""
    lines += [f"found = sm.describe_dimensions(model, c{with_known}{with_again}, random_state={seed})"]
    lines += [f"sm.write_dimensions(found, {str(target)!r}, {heading!r})"]
    same_in_python(*steps, *lines, before=["import pandas as pd"] if known is not None else [])


def _attributes(path: Path, c: Any) -> tuple[Any, list[str]]:
    """A table of attributes of the items that the answers are about, and the Python that reads it."""
    import pandas as pd

    from similitude.evaluate.attributes import as_attributes

    separator = "\t" if path.suffix == ".tsv" else ","
    with expecting(path, FEATURES):
        table = pd.read_csv(path, index_col=0, sep=separator)
        if not len(table.columns):
            raise ValueError(f"{path}: expected the items' names in the first column and attributes after it")
    table.index = table.index.map(str)
    try:
        as_attributes(table, c.names, c.n_items)  # now, not after all the fits
    except ValueError as error:
        raise ValueError(f"{path}: {str(error).removeprefix('attributes: ')}") from None
    said = "" if separator == "," else f", sep={separator!r}"
    return table, [f"attributes = pd.read_csv({str(path)!r}, index_col=0{said}).rename(index=str)"]
