"""`similitude export`: a model as tables for spreadsheets, R and rsatoolbox, and for the tools where it runs."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.commands import app, load_model, model_in
from similitude.cli.output import in_shell, same_in_python
from similitude.cli.targets import check_apart


class What(StrEnum):
    """What is written: what a text file holds, or another tool's folder."""

    distances = "distances"
    coordinates = "coordinates"
    projector = "projector"


_FILES = (
    "file to write: .csv, .tsv, .xlsx (both), .hdf5 (RDMs of rsatoolbox), .onnx (the map from vectors), "
    ".faiss, .hnsw or .ann (an index of the items)"
)


@app.command()
def export(
    model: Annotated[Path, typer.Argument(help="a model (.sim), or a folder that learn wrote")],
    out: Annotated[Path, typer.Argument(help=_FILES)],
    what: Annotated[
        What, typer.Option(help="what a .csv or .tsv holds, or a folder for TensorBoard's projector")
    ] = What.distances,
) -> None:
    """Write the distances between all items, or their coordinates, with names; or what another tool runs."""
    from similitude.export.projector import VECTORS
    from similitude.feedback.files.whole import check_place

    _check_kind(out, what)
    check_place(out / VECTORS if what is What.projector else out, makes_folders=what is What.projector)
    model = model_in(model)
    check_apart([("path", None if what is What.projector else out)], model)
    similarity = load_model(model)
    written, held, call = _writer(similarity, out, what)
    written()
    typer.echo(f"{out}: {held}")
    same_in_python(call.format(model=f"sm.Similarity.load({str(model)!r})", out=repr(str(out))))


def _check_kind(out: Path, what: What) -> None:
    """Refuse a file of a kind that is not written."""
    from similitude.export.indexes import SUFFIXES
    from similitude.methods.tables_out import WRITTEN

    known = (*WRITTEN, ".onnx", *SUFFIXES)
    if what is not What.projector and out.suffix.lower() not in known:
        raise ValueError(f"expected a file name that ends in {', '.join(known)}, found {out.name!r}")


def _writer(similarity: Any, out: Path, what: What) -> tuple[Callable[[], None], str, str]:
    """What writes a file or folder, what that then holds, and the Python that does the same."""
    from similitude import export as exports
    from similitude.export.indexes import SUFFIXES
    from similitude.methods.tables_out import between_items

    kind, items = out.suffix.lower(), f"{similarity.n_items} items"
    if what is What.projector:
        held = f"{items}; look at them with tensorboard --logdir {in_shell(out)}"
        return partial(exports.write_projector, similarity, out), held, "sm.export.write_projector({model}, {out})"
    if kind == ".onnx":
        return (
            partial(exports.write_onnx, similarity, out),
            "the map from vectors",
            "sm.export.write_onnx({model}, {out})",
        )
    if kind in SUFFIXES:
        held = f"an index of {items} for {SUFFIXES[kind]}"
        return partial(exports.write_index, similarity, out), held, "sm.export.write_index({model}, {out})"
    between = between_items(similarity)
    one = between if what is What.distances else what.value
    held = {".xlsx": f"coordinates and {between}", ".hdf5": f"{between} as RDMs"}.get(kind, one)
    call = f"{{model}}.write_table({{out}}, {what.value!r})"
    return partial(similarity.write_table, out, what.value), f"{held} of {items}", call
