"""A model as tables for other programs: coordinates and distances with names, for spreadsheets, R and rsatoolbox.

| file | what it holds | opened by |
|---|---|---|
| .csv, .tsv | distances between all items, or coordinates; names in the first column | Excel, R (`as.dist`) |
| .xlsx | both, a sheet each (needs `similitude[tables]`) | Excel |
| .hdf5 | the distances as RDMs (needs `similitude[tables]`) | rsatoolbox: `rsatoolbox.rdm.load_rdm(file, "hdf5")` |

A model whose dissimilarities are no distances (dot products, say: `Similarity.kind`) is written as what it is:
"dissimilarities (product)" stands in the corner of the table, the sheet is called so, and the RDMs name the kind.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from similitude.engine.measures import Euclidean
from similitude.extras import need
from similitude.feedback.files.spreadsheets import defused
from similitude.feedback.files.whole import write_whole

if TYPE_CHECKING:
    import pandas as pd

    from similitude.methods.similarity import Similarity

What = Literal["distances", "coordinates"]
KNOWN = ("distances", "coordinates")
WRITTEN = (".csv", ".tsv", ".xlsx", ".hdf5")


def coordinates(similarity: Similarity) -> pd.DataFrame:
    """Where the items lie: a row for each, by name, a column for each dimension."""
    import pandas as pd

    columns = [f"dimension {k + 1}" for k in range(similarity.embedding.shape[1])]
    return pd.DataFrame(similarity.embedding, _items(similarity), columns)


def distances(similarity: Similarity) -> pd.DataFrame:
    """How far apart every two items are: rows and columns by name; the index says where it is no distance."""
    import pandas as pd

    names, what = _items(similarity), between_items(similarity)
    index = names if what == "distances" else names.rename(what)
    return pd.DataFrame(similarity.distances(), index, names.rename(None))


def between_items(similarity: Similarity) -> str:
    """What to call the numbers between two items: distances, or dissimilarities of a kind."""
    return "distances" if similarity.kind == Euclidean.kind else f"dissimilarities ({similarity.kind})"


def _items(similarity: Similarity) -> pd.Index:
    import pandas as pd

    return pd.Index([similarity.label(k) for k in range(similarity.n_items)], name="item")


def check_table(path: Path) -> None:
    """Refuse a file that cannot be written, before the work whose result should go there."""
    if path.suffix.lower() not in WRITTEN:
        raise ValueError(f"path: expected a file name that ends in {', '.join(WRITTEN)}, found {path.name!r}")
    if path.suffix.lower() == ".xlsx":
        need("tables", f"{path.name}: an Excel file", "openpyxl")
    if path.suffix.lower() == ".hdf5":
        need("tables", f"{path.name}: an HDF5 file", "h5py")


def check_what(what: str) -> None:
    """Refuse a table that there is not."""
    if what not in KNOWN:
        raise ValueError(f"what: expected {' or '.join(map(repr, KNOWN))}, found {what!r}")


def write_table(similarity: Similarity, path: Path, what: What = "distances") -> None:
    """Write a model as a table; its suffix says which."""
    check_table(path)
    check_what(what)
    kind = path.suffix.lower()
    if kind == ".xlsx":
        data = workbook({"coordinates": coordinates(similarity), between_items(similarity): distances(similarity)})
    elif kind == ".hdf5":
        data = rdms(similarity)
    else:
        table = coordinates(similarity) if what == "coordinates" else distances(similarity)
        data = separated(table, "," if kind == ".csv" else "\t").encode()
    write_whole(path, data)


def separated(table: pd.DataFrame, separator: str = ",", index: bool = True) -> str:
    """A table as text, with its index or without; neither a name nor a cell can be taken for a formula."""
    safe = table.rename(index=lambda name: defused(str(name)), columns=lambda name: defused(str(name)))
    safe = safe.map(lambda cell: defused(cell) if isinstance(cell, str) else cell)
    return str(safe.to_csv(sep=separator, lineterminator="\n", index=index))


def workbook(tables: dict[str, pd.DataFrame]) -> bytes:
    """Tables as the sheets of an Excel file; a name that begins with = is text, not a formula."""
    need("tables", "an Excel file", "openpyxl")
    import openpyxl

    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, table in tables.items():
        sheet = book.create_sheet(name)
        sheet.append([_text(sheet, str(table.index.name)), *(_text(sheet, str(column)) for column in table.columns)])
        for item, row in zip(table.index, table.to_numpy(), strict=True):
            sheet.append([_text(sheet, str(item)), *row.tolist()])
        sheet.freeze_panes = "B2"
    whole = io.BytesIO()
    book.save(whole)
    return whole.getvalue()


def _text(sheet: Any, value: str) -> Any:
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, value=value)
    cell.data_type = "s"
    return cell


def rdms(similarity: Similarity) -> bytes:
    """The distances as rsatoolbox saves RDMs in HDF5 (rsatoolbox/io/hdf5.py, version 0.3)."""
    need("tables", "an HDF5 file", "h5py")
    import h5py

    first, second = np.triu_indices(similarity.n_items, 1)
    names = [similarity.label(k) for k in range(similarity.n_items)]
    letters = "S" if all(name.isascii() for name in names) else h5py.string_dtype()  # its own bytes are ASCII alone
    whole = io.BytesIO()
    with h5py.File(whole, "w") as file:
        file.attrs["rsatoolbox_version"] = "0.3.2"
        file.attrs["dissimilarity_measure"] = "euclidean" if similarity.kind == Euclidean.kind else similarity.kind
        file["dissimilarities"] = similarity.distances()[first, second][None]
        file.create_group("descriptors")
        file.create_group("rdm_descriptors")["index"] = np.arange(1)
        patterns = file.create_group("pattern_descriptors")
        patterns["item"] = np.array(names, dtype=letters)
        patterns["index"] = np.arange(len(names))
    return whole.getvalue()
