"""A model as a folder for TensorBoard's projector: `tensorboard --logdir FOLDER`, or its two tables in the browser."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from similitude.feedback.files.whole import write_whole
from similitude.methods.similarity import Similarity

VECTORS, METADATA, CONFIG = "vectors.tsv", "metadata.tsv", "projector_config.pbtxt"


def write_projector(
    similarity: Similarity, folder: str | os.PathLike[str], attributes: Mapping[str, Sequence[Any]] | None = None
) -> None:
    """Write the positions and names of the items for TensorBoard's projector.

    Parameters
    ----------
    similarity : a fitted model
    folder : made where there is none; `vectors.tsv`, `metadata.tsv` and `projector_config.pbtxt` in it are replaced
    attributes : what else to show of the items and to colour them by, a name and a value for each item; beside the
        attributes that the model has

    Examples
    --------
    >>> import os, tempfile, similitude as sm
    >>> c = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 100, names=["ash", "oak", "bus", "car"], random_state=0)
    >>> model = sm.STE(2, random_state=0).fit(c)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sm.export.write_projector(model.similarity_, folder, {"alive": [True, True, False, False]})
    ...     sorted(os.listdir(folder))
    ['metadata.tsv', 'projector_config.pbtxt', 'vectors.tsv']
    """
    columns = _columns(similarity, {**similarity.attributes, **(attributes or {})})
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    write_whole(place / VECTORS, _table(similarity.embedding.tolist()))
    write_whole(place / METADATA, _metadata(columns))
    write_whole(place / CONFIG, _config(similarity.embedding.shape))


def _columns(similarity: Similarity, attributes: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """The items' names and attributes; a column of another length is refused before anything is written."""
    for name, values in attributes.items():
        if len(values) != similarity.n_items:
            raise ValueError(
                f"attributes: expected a value of {name!r} for each of {similarity.n_items} items, found {len(values)}"
            )
    return {"item": [similarity.label(k) for k in range(similarity.n_items)], **attributes}


def _metadata(columns: Mapping[str, Sequence[Any]]) -> bytes:
    """A row for each item; the projector wants a line of titles where there are several columns, and none where not."""
    rows = list(zip(*columns.values(), strict=True))
    return _table(rows if len(columns) == 1 else [tuple(columns), *rows])


def _table(rows: Sequence[Sequence[Any]]) -> bytes:
    return "".join("\t".join(_cell(value) for value in row) + "\n" for row in rows).encode()


def _cell(value: Any) -> str:
    """A value on one line of its own: the projector knows no quotes."""
    return repr(value) if isinstance(value, float) else " ".join(str(value).split())


def _config(shape: tuple[int, ...]) -> bytes:
    """The setup, in the text form of protocol buffers."""
    rows, columns = shape
    lines = [
        "embeddings {",
        '  tensor_name: "similitude"',
        f"  tensor_shape: {rows}",
        f"  tensor_shape: {columns}",
        f'  tensor_path: "{VECTORS}"',
        f'  metadata_path: "{METADATA}"',
        "}",
    ]
    return ("\n".join(lines) + "\n").encode()
