"""`similitude export`: a model as tables for spreadsheets, R and rsatoolbox, and for the tools where it runs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from similitude.cli.commands import app, load_model, model_in
from similitude.cli.output import in_shell, same_in_python


class What(StrEnum):
    """What is written: what a text file holds, or another tool's folder."""

    distances = "distances"
    coordinates = "coordinates"
    projector = "projector"


@app.command()
def export(
    model: Annotated[Path, typer.Argument(help="a model (.sim), or a folder that learn wrote")],
    out: Annotated[Path, typer.Argument(help="file to write: .csv, .tsv, .xlsx (both), or .hdf5 (RDMs of rsatoolbox)")],
    what: Annotated[
        What, typer.Option(help="what a .csv or .tsv holds, or a folder for TensorBoard's projector")
    ] = What.distances,
) -> None:
    """Write the distances between all items, or their coordinates, with names, for other programs."""
    model = model_in(model)
    similarity = load_model(model)
    if what is What.projector:
        from similitude.export.projector import write_projector

        write_projector(similarity, out)
        typer.echo(f"{out}: {similarity.n_items} items; look at them with tensorboard --logdir {in_shell(out)}")
        same_in_python(f"sm.export.write_projector(sm.Similarity.load({str(model)!r}), {str(out)!r})")
        return
    similarity.write_table(out, what.value)
    held = {".xlsx": "coordinates and distances", ".hdf5": "distances as RDMs"}.get(out.suffix.lower(), what.value)
    typer.echo(f"{out}: {held} of {similarity.n_items} items")
    same_in_python(f"sm.Similarity.load({str(model)!r}).write_table({str(out)!r}, {what.value!r})")
