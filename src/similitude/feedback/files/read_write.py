"""Files of answers: read in the layouts of many tools, written so that nothing is lost.

| file | what it holds |
|---|---|
| .csv, .tsv, .txt (also .gz) | a table; separator, encoding, decimal comma and header are found by looking |
| .xlsx, .ods, .sav, .rds | a table of Excel, LibreOffice, SPSS or R (needs `similitude[tables]`) |
| .jsonl, .ndjson, .json (also .gz) | JSON objects, or the export of a tool |
| .parquet | a table (needs pyarrow) |
| .mat, .hdf5 | arrangements of Meadows, RDMs of rsatoolbox |
| .npy, .npz | an array (m, 3) or (m, 4), in .npz with the responses (cblearn) |

Exports of other tools are recognised by what they hold (`files/tools`).
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from similitude.extras import need
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import as_comparisons
from similitude.feedback.files.cells import ItemRule
from similitude.feedback.files.dataset_writer import ComparisonWriter, check_new_folder
from similitude.feedback.files.native import to_columns
from similitude.feedback.files.options import Options
from similitude.feedback.files.reading import understood
from similitude.feedback.files.tables import SUFFIXES, suffix_of
from similitude.feedback.files.understanding import Understood
from similitude.feedback.files.whole import check_place, write_whole
from similitude.feedback.files.writing import WRITTEN, pieces
from similitude.settings import as_path
from similitude.types import Seed

if TYPE_CHECKING:
    import pandas as pd

PathLike = str | os.PathLike[str]
Files = PathLike | Sequence[PathLike]


def read_comparisons(
    path: Files | pd.DataFrame,
    *,
    form: str | None = None,
    columns: Mapping[str, str] | None = None,
    names: Sequence[str] | Mapping[Any, str] | PathLike | None = None,
    n_items: int | None = None,
    labels: bool = False,
    fold_names: bool = False,
    larger: Literal["similar", "different"] | None = None,
    missing: float | None = None,
    max_per_rater: int | None = None,
    random_state: Seed = None,
    drop_degenerate: bool = False,
    keep_catch: bool = False,
) -> Comparisons:
    """Read answers from a file, or from several; the layout is recognised by its columns.

    Layouts: what `write_comparisons` writes; `head,winner,loser`; `head,b,c,chosen`; `head,chosen,not_chosen` (lists
    separated by spaces); `a,b,c,odd` (the name or position of the odd one); `a,b,odd`; `a,b,c,central`;
    `central,other1,other2`; `i,j,k` and `i,j,k,l` (with `response`); `i,j,rating`; `resp,S1,S2,S3,S4` and
    `resp,S1,S2,S3` (MLDS); `item,x,y`; `item,group`; a row per item shown, `trial,item,odd` and
    `trial,head,item,chosen`. Columns with other names are guessed where these make it plain (`understand` says how),
    else `columns` says. Who answered may stand in a column `rater`, `participant`, `worker`, `subject` and the like,
    seconds in `time`, `rt`; the sampler in `strategy`, `alg`; rows of one answer share a value of `answer` or
    `screen`. Rows marked in a column `is_catchtrial` are left out, blank answers are "can't tell", and all other
    columns are kept in `answers.extra`. Exports of jsPsych, PsychoPy, lab.js, Meadows, Qualtrics, Mechanical Turk,
    Label Studio, Salmon, THINGS, cblearn and rsatoolbox are read as they are, and square tables of dissimilarities.

    Parameters
    ----------
    path : the file; several files; a folder with one file per participant, named as the file where no column says
        who it is; or a pandas table in one of the layouts
    form : the form of question, where the file does not say: of rows in a text file or array (`"triplet"`,
        `"odd_one_out"`, `"most_central"`), or of answers without a column `form`; another than the file says is refused
    columns : which column is which, such as `{"odd": "Odd one", "a": "Pic 1", "b": "Pic 2", "c": "Pic 3"}`
    names, n_items : the items; whole numbers in the file are positions in `names`. Or a dict from what the file calls
        an item to its name, or a table (.csv, .xlsx, ...) with the one in its first column and the other in its second
    labels : whether whole numbers in the file are names, not positions; those that begin at 1 are
    fold_names : whether names that differ by case, spaces, accents or .0 alone are one item
    larger : for ratings, whether a larger number means "similar" or "different"; refused where nothing is rated
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
    rule = ItemRule.told(names, n_items, labels, fold_names)
    options = Options(form, rule, larger, missing, max_per_rater, random_state, drop_degenerate, keep_catch, columns)
    return understood(path, options).comparisons


def understand(path: Files | pd.DataFrame, **options: Any) -> Understood:
    """Read answers and say what was understood: form, columns, counts, the first answers in words, what is odd.

    Parameters
    ----------
    path : as in `read_comparisons`
    **options : those of `read_comparisons`

    Returns
    -------
    Understood : printed, it says it in words; its `comparisons` are the feedback

    Examples
    --------
    >>> import pandas as pd, similitude as sm
    >>> table = pd.DataFrame({"a": ["cat"], "b": ["dog"], "c": ["bus"], "odd": ["bus"], "participant": ["ann"]})
    >>> print(sm.understand(table))
    the table: 1 answer to odd-one-out questions of three items, about 3 items by 1 rater
      columns: a, b, c, odd, rater = 'participant'
      ann: of cat, dog, bus, bus does not belong
    """
    rule = ItemRule.told(
        options.pop("names", None),
        options.pop("n_items", None),
        options.pop("labels", False),
        options.pop("fold_names", False),
    )
    return understood(path, Options(items=rule, **options))


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
    where = as_path(path, "write_comparisons(comparisons, path)")
    check_target(where)
    comparisons = as_comparisons(comparisons)
    if not where.suffix:
        with ComparisonWriter(where) as writer:
            writer.write(comparisons)
        return
    kind, zipped = suffix_of(where)
    if comparisons.n_answers == 0:
        raise ValueError("comparisons: expected at least one answer to write, found none")
    columns, header = to_columns(comparisons)
    data = b"".join(pieces(kind, [columns], header))
    write_whole(where, gzip.compress(data, mtime=0) if zipped else data)


def check_target(path: Path) -> None:
    """Refuse a file that `write_comparisons` could not write: before the work whose result should go there."""
    kind = suffix_of(path)[0] if path.suffix else ".parquet"  # a folder holds Parquet files
    if kind not in WRITTEN and kind in SUFFIXES:
        raise ValueError(f"path: {kind} is read, but not written; write .csv, .jsonl or .parquet instead")
    if kind not in WRITTEN:
        raise ValueError(f"path: expected a file name that ends in {', '.join(WRITTEN)} (or .gz), found {path.name!r}")
    if path.suffix:
        check_place(path)
    else:
        check_new_folder(path)
    if kind == ".parquet":
        need("parquet", f"{path.name}: a Parquet file" if path.suffix else f"{path.name}: a folder of Parquet files")
