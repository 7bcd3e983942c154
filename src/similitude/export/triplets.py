"""Comparisons as triplets of texts: what sentence-transformers trains on (`TripletLoss` and others).

The columns are anchor, positive, negative and no others: there, every further column is taken for another text.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.files.whole import write_whole
from similitude.settings import as_path

COLUMNS = ("anchor", "positive", "negative")
WRITTEN = (".jsonl", ".csv")


def write_triplets(
    comparisons: ComparisonsLike,
    path: str | os.PathLike[str],
    texts: Mapping[str, str] | Sequence[str] | None = None,
) -> None:
    """Write comparisons as rows of anchor, positive and negative, one for each comparison that has a weight.

    Cells are written as the texts are, so that a model is trained on what it will see: a spreadsheet may take one that
    begins with "=" for a formula.

    Parameters
    ----------
    comparisons : comparisons with a head each, which is the anchor
    path : `.jsonl`, or `.csv` with a line of titles
    texts : the text of each item, by name or in the order of the items; by default its name

    Examples
    --------
    >>> import pathlib, tempfile, similitude as sm
    >>> c = sm.Comparisons.from_triplets([("cat", "dog", "bus")])
    >>> texts = {"cat": "a small cat", "dog": "a large dog", "bus": "a red bus"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sm.export.write_triplets(c, pathlib.Path(folder, "said.csv"), texts)
    ...     print(pathlib.Path(folder, "said.csv").read_text("utf-8"), end="")
    anchor,positive,negative
    a small cat,a large dog,a red bus
    """
    target, c = as_path(path, "export.write_triplets(comparisons, path, texts)"), as_comparisons(comparisons)
    if target.suffix.lower() not in WRITTEN:
        raise ValueError(f"path: expected a file name that ends in {' or '.join(WRITTEN)}, found {target.name!r}")
    called = _texts(c, texts)
    rows = ([called[k] for k in row] for row in c.triplets[c.weight > 0].tolist())
    lines = _as_csv(rows) if target.suffix.lower() == ".csv" else _as_json(rows)
    write_whole(target, (line.encode() for line in lines))


def _texts(c: Comparisons, texts: Mapping[str, str] | Sequence[str] | None) -> Sequence[str]:
    """The text of every item, in the order of the items."""
    if texts is None:
        if c.names is None:
            raise ValueError("texts: expected one for each item, since the items have no names, found None")
        return c.names
    if isinstance(texts, Mapping):
        missing = [c.label(k) for k in c.items_compared.tolist() if c.label(k) not in texts]
        if missing:
            raise ValueError(f"texts: expected one for each item, found none for {', '.join(missing[:3])}")
        return [texts.get(c.label(k), "") for k in range(c.n_items)]
    if len(texts) != c.n_items:
        raise ValueError(f"texts: expected one for each of {c.n_items} items, found {len(texts)}")
    return texts


def _as_json(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(dict(zip(COLUMNS, row, strict=True)), ensure_ascii=False) + "\n"


def _as_csv(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for row in (COLUMNS, *rows):
        writer.writerow(row)
        yield line.getvalue()
        line.seek(0)
        line.truncate()
