"""rsatoolbox: RDMs saved as HDF5 (`rdms.save("rdms.hdf5", file_type="hdf5")`).

The file has a data set `dissimilarities` (RDMs, pairs of the upper triangle row by row), groups `pattern_descriptors`
(the items, one value each) and `rdm_descriptors` (one value per RDM), and an attribute `rsatoolbox_version`
(rsatoolbox/io/hdf5.py and rdm/rdms.py, version 0.3). Its pickles are not read: a pickle is code.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from similitude.extras import need
from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tools.base import Export, Tool
from similitude.feedback.files.tools.dissimilarities import pairs_of
from similitude.types import Floats

_RATERS = ("participant", "subject", "subj", "rater", "observer", "name", "index")
_COUNTED = ("index",)


@dataclass(frozen=True, eq=False)
class RDMs:
    """What a file of RDMs holds, by the names that rsatoolbox's own class has.

    Attributes
    ----------
    dissimilarities : (RDMs, pairs) of the upper triangle row by row
    pattern_descriptors : what the items are called
    raters : what the RDMs are called, where there are several
    """

    dissimilarities: Floats
    pattern_descriptors: dict[str, list[str]]
    raters: list[str] | None

    def get_matrices(self) -> Floats:
        """(RDMs, n, n) as square tables."""
        count = items_of(self.dissimilarities.shape[1])
        out = np.zeros((len(self.dissimilarities), count, count))
        out[:, *np.triu_indices(count, 1)] = self.dissimilarities
        return out + out.transpose(0, 2, 1)


def items_of(n_pairs: int) -> int:
    """How many items have so many pairs."""
    return round((1 + np.sqrt(1 + 8 * n_pairs)) / 2)


def read_rdms(path: Path) -> RDMs:
    """Read RDMs that rsatoolbox, or `Similarity.write_table`, wrote as HDF5."""
    return _rdms(FileSource.open(path).data)


def _rdms(data: bytes) -> RDMs:
    need("tables", "an HDF5 file", "h5py")
    import h5py

    try:
        file = h5py.File(io.BytesIO(data), "r")
        sheets = np.atleast_2d(np.asarray(file["dissimilarities"], float))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"expected RDMs of rsatoolbox (a data set 'dissimilarities'), found none ({error})") from None
    count = items_of(sheets.shape[1])
    items = _described(file.get("pattern_descriptors"), count) or [str(k) for k in range(count)]
    raters = _described(file.get("rdm_descriptors"), len(sheets), _RATERS) if len(sheets) > 1 else None
    return RDMs(sheets, {"item": items}, raters)


def _read(source: FileSource) -> Export:
    rdms = _rdms(source.data)
    raters = rdms.raters or [str(k) for k in range(len(rdms.dissimilarities))]
    return Export(pairs_of(rdms.pattern_descriptors["item"], rdms.dissimilarities, raters), larger="different")


def _described(group: Any, count: int, wanted: tuple[str, ...] = ()) -> list[str] | None:
    """The descriptor that names things: one that is wanted, else the first that tells all of them apart."""
    if group is None:
        return None
    found = {key: [_text(value) for value in np.asarray(group[key]).ravel()] for key in group}
    for key in sorted(found, key=lambda key: (wanted.index(key) if key in wanted else len(wanted), key in _COUNTED)):
        if len(found[key]) == count and len(set(found[key])) == count:
            return found[key]
    return None


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


RSATOOLBOX = Tool("rsatoolbox", lambda source: source.kind in (".hdf5", ".h5"), _read)
