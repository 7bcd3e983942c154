"""Arrays of numpy (.npy, .npz) as cblearn has them: (m, 3) or (m, 4) items, and in .npz the responses beside them."""

from __future__ import annotations

from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tables import Table, objects
from similitude.feedback.files.tools.base import Export, Tool


def _read(source: FileSource) -> Export:
    arrays = list(source.arrays().values())
    rows = [array for array in arrays if array.ndim == 2 and array.shape[1] in (3, 4)]
    responses = [array for array in arrays if array.ndim == 1]
    if len(rows) != 1 or len(responses) > 1:
        found = ", ".join(str(array.shape) for array in arrays)
        raise ValueError(f"expected one array (m, 3) or (m, 4) and perhaps responses, found shapes {found}")
    columns = {f"column {k + 1}": objects(column.tolist()) for k, column in enumerate(rows[0].T)}
    if responses and len(responses[0]) != len(rows[0]):
        raise ValueError(f"expected one response per row ({len(rows[0])}), found {len(responses[0])}")
    if responses:
        columns["response"] = objects(responses[0].tolist())
    return Export(Table(columns, None, typed=True), from_zero=True)


CBLEARN = Tool("cblearn", lambda source: source.kind in (".npy", ".npz"), _read)
