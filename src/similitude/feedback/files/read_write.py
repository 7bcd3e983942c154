"""Files of answers: read in the layouts of many tools, written so that nothing is lost.

| file | what it holds |
|---|---|
| .csv, .tsv (also .gz) | a table with a header; lists as JSON arrays |
| .jsonl, .ndjson (also .gz) | one JSON object per line |
| .parquet | a table (needs pyarrow) |
| .txt (also .gz) | three items a row without a header, the last is the odd one (THINGS) |
| .npy, .npz | an array (m, 3) or (m, 4), in .npz with the responses (cblearn); read only |
"""

from __future__ import annotations

import gzip
import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from similitude.extras import need
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import as_comparisons
from similitude.feedback.files import tables
from similitude.feedback.files.cells import ItemRule
from similitude.feedback.files.dataset_writer import ComparisonWriter
from similitude.feedback.files.layouts import Options, read_table
from similitude.feedback.files.native import to_columns
from similitude.feedback.files.tables import Table, kind_of, objects
from similitude.feedback.files.whole import write_whole
from similitude.feedback.files.writing import WRITTEN, pieces
from similitude.feedback.forms import FORMS
from similitude.feedback.forms.base import Form
from similitude.types import Seed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

PathLike = str | os.PathLike[str]


def read_comparisons(
    path: PathLike | pd.DataFrame,
    *,
    form: str | None = None,
    names: Sequence[str] | None = None,
    n_items: int | None = None,
    labels: bool = False,
    larger: Literal["similar", "different"] | None = None,
    missing: float | None = None,
    max_per_rater: int | None = None,
    random_state: Seed = None,
    drop_degenerate: bool = False,
    keep_catch: bool = False,
) -> Comparisons:
    """Read answers from a file; the layout is recognised by its columns.

    Layouts: what `write_comparisons` writes; `head,winner,loser`; `head,chosen,not_chosen` (lists separated
    by spaces); `a,b,odd`; `central,other1,other2`; `i,j,k` and `i,j,k,l` (with `response`); `i,j,rating`;
    `resp,S1,S2,S3,S4` and `resp,S1,S2,S3` (MLDS); `item,x,y`; `item,group`. Who answered may stand in a
    column `rater`, `puid`, `participant`, `worker` or `subject`; seconds in `time` or `response_time`; the
    sampler in `strategy`, `alg` or `sampler`; rows of one answer share a value of `answer` or `screen`. Rows
    marked in a column `is_catchtrial` are left out.

    Parameters
    ----------
    path : the file, or a pandas table in one of the layouts
    form : the form of question, where the file does not say: of rows in a text file or array (`"triplet"`,
        `"odd_one_out"`, `"most_central"`), or of answers without a column `form`
    names, n_items : the items; whole numbers in the file are positions in `names`
    labels : whether whole numbers in the file are names, not positions
    larger : for ratings, whether a larger number means "similar" or "different"
    missing : for ratings, a number that stands for "no rating"
    max_per_rater, random_state : for ratings and placements, draw at most this many comparisons per rater
    drop_degenerate : leave out rows that compare an item with itself; otherwise they are an error
    keep_catch : keep the rows marked in `is_catchtrial`

    Returns
    -------
    Comparisons

    Examples
    --------
    >>> import pandas as pd, similitude as sm
    >>> table = pd.DataFrame({"head": ["cat", "bus"], "winner": ["dog", "car"], "loser": ["car", "dog"]})
    >>> sm.read_comparisons(table)
    <2 comparisons from 2 answers about 4 items>
    """
    rule = ItemRule(names, n_items, labels)
    options = Options(form, rule, larger, missing, max_per_rater, random_state, drop_degenerate, keep_catch)
    if not isinstance(path, (str, os.PathLike)):
        if not hasattr(path, "columns"):
            raise TypeError(f"path: expected a file or a pandas table, found {type(path).__name__}")
        return _over(read_table(tables.of_frame(path), options), names, n_items)
    where = Path(path)
    if where.is_dir():
        raise ValueError(f"path: {str(path)!r} is a folder; open it with ComparisonDataset")
    kind, zipped = kind_of(where)
    data = tables.content(where, zipped)
    try:
        return _over(read_table(_parse(data, kind, form), options), names, n_items)
    except (ValueError, TypeError) as error:
        raise (TypeError if isinstance(error, TypeError) else ValueError)(f"{where.name}: {error}") from None


def write_comparisons(comparisons: Comparisons, path: PathLike) -> None:
    """Write feedback to a file (.csv, .tsv, .jsonl or .parquet, also .gz) that reads back equal.

    One row per answer; or one row per comparison, where the comparisons are not just what the answers imply
    (a cleaned part, say). The file is written beside its place and then moved there, so that a failure
    leaves an older file as it was.

    Parameters
    ----------
    comparisons : the feedback
    path : the file; a name without a suffix is a folder for `ComparisonDataset`, which holds the comparisons, but not
        who answered and how

    Examples
    --------
    >>> import tempfile, similitude as sm
    >>> c = sm.Comparisons.from_triplets([("cat", "dog", "car"), ("bus", "car", "dog")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sm.write_comparisons(c, f"{folder}/answers.csv")
    ...     sm.read_comparisons(f"{folder}/answers.csv")
    <2 comparisons from 2 answers about 4 items>
    """
    where = Path(path)
    check_target(where)
    comparisons = as_comparisons(comparisons)
    if not where.suffix:
        with ComparisonWriter(where) as writer:
            writer.write(comparisons)
        return
    kind, zipped = kind_of(where)
    if comparisons.n_answers == 0:
        raise ValueError("comparisons: expected at least one answer to write, found none")
    columns, header = to_columns(comparisons)
    data = b"".join(pieces(kind, [columns], header))
    write_whole(where, gzip.compress(data, mtime=0) if zipped else data)


def check_target(path: Path) -> None:
    """Refuse a file that `write_comparisons` could not write: before the work whose result should go there."""
    kind = kind_of(path)[0] if path.suffix else ".parquet"  # a folder holds Parquet files
    if kind == ".parquet":
        need("parquet", f"{path.name}: a Parquet file" if path.suffix else f"{path.name}: a folder of Parquet files")
    elif kind not in WRITTEN:
        raise ValueError(f"path: {kind} holds items alone; write .csv, .jsonl or .parquet instead")


def _parse(data: bytes, kind: str, form: str | None) -> Table:
    if kind in (".jsonl", ".ndjson"):
        return tables.parse_json_lines(data)
    if kind == ".parquet":
        return tables.parse_parquet(data)
    if kind in (".npy", ".npz"):
        return _parse_arrays(data, form)
    if kind != ".txt":
        return tables.parse_text(data, "," if kind == ".csv" else "\t")
    rows = tables.parse_bare(data)
    names = _columns_of(len(rows[0]), form or ("odd_one_out" if len(rows[0]) == 3 else "quadruplet"))
    return Table(tables.columns_of_rows(names, rows), None, typed=False)


def _columns_of(width: int, form: str) -> tuple[str, ...]:
    """The columns that rows of items without a header would have."""
    known = {name: _bare(one) for name, one in FORMS.items() if _bare(one)}
    columns = known.get(form)
    if columns is None or len(columns) != width:
        rows = ", ".join(f"{name} ({len(row)} items a row)" for name, row in known.items())
        raise ValueError(f"form: rows of {width} items are no {form}; expected {rows}")
    return columns


def _bare(form: Form) -> tuple[str, ...]:
    of_items = [columns for columns in form.columns if columns.how in ("items", "judged")]
    return tuple(names[0] for names in of_items[-1].names) if of_items else ()


def _parse_arrays(data: bytes, form: str | None) -> Table:
    """Read an array of items (m, 3) or (m, 4), and responses where there are any."""
    try:
        loaded = np.load(io.BytesIO(data), allow_pickle=False)
        arrays = [loaded] if isinstance(loaded, np.ndarray) else [loaded[key] for key in loaded.files]
    except Exception as error:  # numpy raises many kinds for a damaged file
        raise ValueError(f"the file holds no plain arrays ({error}); save items as whole numbers") from None
    rows = [array for array in arrays if array.ndim == 2 and array.shape[1] in (3, 4)]
    responses = [array for array in arrays if array.ndim == 1]
    if len(rows) != 1 or len(responses) > 1:
        found = ", ".join(str(array.shape) for array in arrays)
        raise ValueError(f"expected one array (m, 3) or (m, 4) and perhaps responses, found shapes {found}")
    width = rows[0].shape[1]
    columns = _columns_of(width, form or ("triplet" if width == 3 else "quadruplet"))
    table = {name: objects(column.tolist()) for name, column in zip(columns, rows[0].T, strict=True)}
    if responses and len(responses[0]) != len(rows[0]):
        raise ValueError(f"expected one response per row ({len(rows[0])}), found {len(responses[0])}")
    if responses:
        table["response"] = objects(responses[0].tolist())
    return Table(table, None, typed=True)


def _over(comparisons: Comparisons, names: Sequence[str] | None, n_items: int | None) -> Comparisons:
    """Return the comparisons over the items that the caller gave, where the file has items of its own."""
    if names is not None:
        return comparisons if comparisons.names == tuple(names) else comparisons.with_items(names)
    return comparisons if n_items in (None, comparisons.n_items) else comparisons.with_items(n_items=n_items)
