"""`similitude export`: a model as tables for spreadsheets, R and rsatoolbox."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from similitude.cli.commands import app, load_model, model_in
from similitude.cli.output import same_in_python


class What(StrEnum):
    """What a text file holds."""

    distances = "distances"
    coordinates = "coordinates"


@app.command()
def export(
    model: Annotated[Path, typer.Argument(help="a model (.sim), or a folder that learn wrote")],
    out: Annotated[Path, typer.Argument(help="file to write: .csv, .tsv, .xlsx (both), or .hdf5 (RDMs of rsatoolbox)")],
    what: Annotated[What, typer.Option(help="what a .csv or .tsv holds")] = What.distances,
) -> None:
    """Write the distances between all items, or their coordinates, with names, for other programs."""
    model = model_in(model)
    similarity = load_model(model)
    similarity.write_table(out, what.value)
    held = {".xlsx": "coordinates and distances", ".hdf5": "distances as RDMs"}.get(out.suffix.lower(), what.value)
    typer.echo(f"{out}: {held} of {similarity.n_items} items")
    same_in_python(f"sm.Similarity.load({str(model)!r}).write_table({str(out)!r}, {what.value!r})")
