"""Writing comparisons that do not fit in memory: chunk by chunk into a folder of Parquet files."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from similitude.feedback.checks import check_pairs, check_weight, head_first
from similitude.feedback.columns import is_constant
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.files.dataset import ABOUT, FORMAT, QUADRUPLET, TRIPLET, WHOLE_FORMAT
from similitude.feedback.files.tables import pyarrow
from similitude.feedback.files.whole import check_place
from similitude.feedback.items import check_names, encode_items
from similitude.feedback.whole_answers import whole_kinds
from similitude.feedback.whole_shards import whole_answers
from similitude.types import Array, Floats, Ints

GROUP_ROWS = 1 << 18  # 3 MB of triplets: fine enough to shuffle, coarse enough to read at full speed
_FILE_ROWS = 1 << 24


class ComparisonWriter:
    """Writes comparisons chunk by chunk to a folder that `ComparisonDataset` reads; used in a `with` block.

    The folder appears when the block ends, and not at all if it fails. A triplet takes 12 bytes, a comparison without
    a head 16, a weight 8 more where there is one. Needs the extra `parquet`.

    Parameters
    ----------
    path : the folder, which must not be there yet
    names : the items' names; without them, names are numbered as they come
    n_items : number of items, where items are positions and it is more than the comparisons show
    group_rows : comparisons (or whole answers) in a row group, the least that is read at once
    whole : whether answers stay whole, "can't tell" included, for methods that take them as choices
        (`ChoiceEmbedding`): an odd one out takes 16 bytes. Other methods read the same folder, and see its comparisons

    Examples
    --------
    >>> import tempfile, similitude as sm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with sm.ComparisonWriter(f"{folder}/answers") as writer:
    ...         writer.write([("cat", "dog", "car"), ("bus", "car", "dog")])
    ...         writer.write([("cat", "dog", "bus")], weight=2.0)
    ...     print(sm.ComparisonDataset(f"{folder}/answers").names)
    ('bus', 'car', 'cat', 'dog')
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        names: Sequence[str] | None = None,
        n_items: int | None = None,
        group_rows: int = GROUP_ROWS,
        whole: bool = False,
    ) -> None:
        self.path = Path(path).resolve()
        self.fixed = check_names(names)
        self.n_items = n_items
        if group_rows < 1:
            raise ValueError(f"group_rows: expected a positive number of comparisons, found {group_rows}")
        self.group_rows, self.whole = group_rows, whole
        self.rows = 0
        self.cleaned = False
        self._numbers: dict[str, int] = {}
        self._largest = -1
        self._pending: list[tuple[Ints, Floats | None]] = []
        self._columns: tuple[str, ...] = ()
        self._about: dict[bytes, bytes] = {}
        self._waiting = 0
        self._file: Any = None
        self._file_rows = 0
        self._files = 0

    def __repr__(self) -> str:
        return f"<writes comparisons to {self.path.name}: {self.rows:,} so far>"

    def __enter__(self) -> Self:
        check_new_folder(self.path)
        pyarrow()
        self._beside = self.path.with_name(f".{self.path.name}.{secrets.token_hex(4)}.tmp")
        self._beside.mkdir(parents=True)
        return self

    def write(self, comparisons: Any, *, weight: npt.ArrayLike | None = None) -> None:
        """Add comparisons: a `Comparisons`, or rows `(i, j, k)` or `(i, j, k, l)` of positions or names.

        Parameters
        ----------
        comparisons : what to add
        weight : one number, or one per comparison, where rows are given
        """
        if isinstance(comparisons, Comparisons):
            if weight is not None:
                raise ValueError("weight: Comparisons have weights of their own; use reweight")
            c = self._write_whole(comparisons) if self.whole else comparisons
            given = c.weight
            self.cleaned |= c.cleaned
            codes = c.quadruplets if c.names is None else self._numbered(c.names)[c.quadruplets]
            self._note(codes, c.names is not None, c.n_items if c.names is None else 0)
        else:
            codes = self._coded(np.asarray(comparisons))
            given = check_weight(weight, len(codes))
        near, far = head_first(codes[:, :2], codes[:, 2:])
        check_pairs(near, far)
        self._add(near, far, _unless_one(given))

    def _write_whole(self, c: Comparisons) -> Comparisons:
        """Write the answers that are whole; return the comparisons that are left."""
        kinds = whole_kinds(c)
        number = np.arange(c.n_items, dtype=np.int32) if c.names is None else self._numbered(c.names)
        left = np.ones(c.n_answers, bool)
        for one, (_, rows) in zip(whole_answers(c, kinds), kinds, strict=True):
            shown = number[one.shown]
            self._note(shown, c.names is not None, c.n_items if c.names is None else 0)
            self._queue(np.hstack([shown, one.said]), _unless_one(one.weight), one.kind.columns, one.kind.as_metadata())
            self.rows += len(one) * one.kind.comparisons_each
            left[rows] = False
        return c.rows(left[c.answer])

    def _coded(self, rows: Array) -> Ints:
        if rows.ndim != 2 or rows.shape[1] not in (3, 4):
            raise ValueError(f"comparisons: expected rows of three or four items, found shape {rows.shape}")
        named = rows.dtype.kind in "OUST"
        codes = self._encode(rows) if named else encode_items(rows, self.fixed, self.n_items)[0]
        self._note(codes, named or self.fixed is not None, 0)
        return codes if codes.shape[1] == 4 else codes[:, [0, 1, 0, 2]]

    def _encode(self, values: Array) -> Ints:
        """Number names: by the names given, or as they come, in sorted order within a chunk of rows."""
        if self.fixed is not None:
            return encode_items(values, self.fixed)[0]
        codes, distinct, _ = encode_items(values)
        return self._numbered(distinct or ())[codes]

    def _numbered(self, names: Sequence[str]) -> Ints:
        """Return the numbers of names, giving new ones the next."""
        if self.fixed is not None:
            return encode_items(np.array(names, object), self.fixed)[0]
        return np.array([self._numbers.setdefault(name, len(self._numbers)) for name in names], np.int32)

    def _note(self, codes: Ints, named: bool, at_least: int) -> None:
        if self.fixed is None and ((named and self._largest >= 0) or (not named and self._numbers)):
            raise ValueError("comparisons: some chunks know items by name and some by position; give names to all")
        if not named:
            self._largest = max(self._largest, int(codes.max(initial=-1)), at_least - 1)

    def _add(self, near: Ints, far: Ints, weight: Floats | None) -> None:
        if not len(near):
            return
        triplets = bool((near[:, 0] == far[:, 0]).all())
        rows = np.column_stack([near, far[:, 1]] if triplets else [near, far])
        self._queue(rows, weight, TRIPLET if triplets else QUADRUPLET, {})
        self.rows += len(rows)

    def _queue(self, rows: Ints, weight: Floats | None, columns: tuple[str, ...], about: dict[bytes, bytes]) -> None:
        """Let rows wait for a whole row group."""
        if not len(rows):
            return
        kind = ((*columns, "weight") if weight is not None else columns, about)
        if kind != (self._columns, self._about):
            self._flush(everything=True)
            self._close_file()  # a file has one set of columns
            self._columns, self._about = kind
        self._pending.append((rows, weight))
        self._waiting += len(rows)
        self._flush()

    def _flush(self, everything: bool = False) -> None:
        """Write whole row groups, and the rest where it must be."""
        if not self._waiting or (self._waiting < self.group_rows and not everything):
            return
        rows = np.concatenate([part for part, _ in self._pending])
        weights = [part for _, part in self._pending if part is not None]
        weight = np.concatenate(weights) if weights else None
        stop = len(rows) if everything else len(rows) - len(rows) % self.group_rows
        for start in range(0, stop, self.group_rows):
            part = slice(start, min(start + self.group_rows, stop))
            self._write_group(rows[part], None if weight is None else weight[part])
        self._pending = [(rows[stop:], None if weight is None else weight[stop:])] if stop < len(rows) else []
        self._waiting = len(rows) - stop

    def _write_group(self, rows: Ints, weight: Floats | None) -> None:
        pa, pq = pyarrow()
        values = [*rows.T, *([] if weight is None else [weight])]
        columns = {name: np.ascontiguousarray(one) for name, one in zip(self._columns, values, strict=True)}
        table = pa.table({name: pa.array(one) for name, one in columns.items()}, metadata=self._about or None)
        if self._file is None:
            target = self._beside / f"part-{self._files:05}.parquet"
            self._file = pq.ParquetWriter(target, table.schema, compression="none", use_dictionary=False)
            self._files += 1
        self._file.write_table(table, row_group_size=self.group_rows)
        self._file_rows += len(rows)
        if self._file_rows >= _FILE_ROWS:
            self._close_file()

    def _close_file(self) -> None:
        if self._file is not None:
            self._file.close()
        self._file, self._file_rows = None, 0

    def __exit__(self, kind: Any, *_: Any) -> None:
        try:
            if kind is None:
                self._finish()
            else:
                self._close_file()
        finally:
            shutil.rmtree(self._beside, ignore_errors=True)

    def _finish(self) -> None:
        self._flush(everything=True)
        self._close_file()
        if not self.rows:
            raise ValueError("comparisons: expected at least one to write, found none")
        named = self.fixed or tuple(self._numbers)
        items: Any = list(named) if named else max(self._largest + 1, self.n_items or 0)
        about = {"format": WHOLE_FORMAT if self.whole else FORMAT, "comparisons": self.rows, "items": items}
        about |= {"cleaned": True} if self.cleaned else {}
        (self._beside / ABOUT).write_text(json.dumps(about, ensure_ascii=False), "utf-8")
        if self.path.exists():
            self.path.rmdir()
        os.replace(self._beside, self.path)


def check_new_folder(path: Path) -> None:
    """Refuse a folder that is there already, or that could not be made."""
    if path.is_dir() and any(path.iterdir()):
        raise FileExistsError(f"path: the folder {str(path)!r} is there already, with files in it; expected a new name")
    if path.exists() and not path.is_dir():
        raise FileExistsError(
            f"path: {str(path)!r} is there already, and no folder; a name without an ending is a folder to make, so "
            "expected a new name, or one of a file, with an ending"
        )
    check_place(path / ABOUT, makes_folders=True)


def _unless_one(weight: Floats) -> Floats | None:
    """Weights that are written: none where all are 1."""
    return None if is_constant(weight) and (not len(weight) or weight[0] == 1.0) else np.array(weight)
