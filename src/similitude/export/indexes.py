"""Indexes of the nearest neighbours: faiss, hnswlib, Annoy, over the positions of a model's items.

An index knows items by their position in the model (`similarity.names[k]`); what is searched for is a position, too:
`similarity.embedding[k]` of an item, `similarity.transform(vectors)` of something new. faiss and hnswlib answer with
squared distances, Annoy with distances.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from similitude.extras import need
from similitude.feedback.files.whole import placed_whole
from similitude.methods.similarity import Similarity
from similitude.settings import as_path

Library = Literal["faiss", "hnswlib", "annoy"]
_EXACT_UP_TO = 100_000  # items: below, looking at all of them takes faiss a millisecond or so
_LINKS, _EFFORT, _TREES, _SEED = 32, 200, 50, 0


def build_index(similarity: Similarity, library: Library = "faiss") -> Any:
    """Build an index of another library over the items of a model.

    Parameters
    ----------
    similarity : a model of distances
    library : "faiss" (exact up to 100,000 items, a graph beyond), "hnswlib" (a graph) or "annoy" (trees); each is an
        extra of its name

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 100, random_state=0)
    >>> similarity = sm.STE(2, random_state=0).fit(c).similarity_
    >>> sm.export.build_index(similarity, "redis")
    Traceback (most recent call last):
        ...
    ValueError: library: expected 'faiss', 'hnswlib' or 'annoy', found 'redis'
    """
    if library not in _BUILDERS:
        raise ValueError(f"library: expected 'faiss', 'hnswlib' or 'annoy', found {library!r}")
    if similarity.kind != "distance":
        raise ValueError(f"similarity: expected a model of distances, found one of kind {similarity.kind!r}")
    need(library, f"an index of {library}")
    return _BUILDERS[library](np.ascontiguousarray(similarity.embedding, np.float32))


def write_index(similarity: Similarity, path: str | os.PathLike[str]) -> None:
    """Build an index and write it to a file, as its library reads it.

    Parameters
    ----------
    similarity : a model of distances
    path : `.faiss`, `.hnsw` (hnswlib) or `.ann` (Annoy)

    Examples
    --------
    >>> import similitude as sm
    >>> c = sm.simulate([[0.0], [1.0], [3.0], [7.0]], 100, random_state=0)
    >>> sm.export.write_index(sm.STE(2, random_state=0).fit(c).similarity_, "items.db")
    Traceback (most recent call last):
        ...
    ValueError: path: expected a file name that ends in .faiss, .hnsw, .ann, found 'items.db'
    """
    target = as_path(path, "export.write_index(similarity, path)")
    library = SUFFIXES.get(target.suffix.lower())
    if library is None:
        raise ValueError(f"path: expected a file name that ends in {', '.join(SUFFIXES)}, found {target.name!r}")
    index = build_index(similarity, library)
    with placed_whole(target) as beside:
        if library == "faiss":
            import faiss

            faiss.write_index(index, str(beside))
        elif library == "hnswlib":
            index.save_index(str(beside))
        else:
            index.save(str(beside))


def _faiss(positions: Any) -> Any:
    import faiss

    count, width = positions.shape
    index = faiss.IndexFlatL2(width) if count <= _EXACT_UP_TO else faiss.IndexHNSWFlat(width, _LINKS)
    index.add(positions)
    return index


def _hnswlib(positions: Any) -> Any:
    import hnswlib

    index = hnswlib.Index(space="l2", dim=positions.shape[1])
    index.init_index(max_elements=len(positions), ef_construction=_EFFORT, M=_LINKS, random_seed=_SEED)
    index.add_items(positions, np.arange(len(positions)))
    index.set_ef(_EFFORT)
    return index


def _annoy(positions: Any) -> Any:
    import annoy

    index = annoy.AnnoyIndex(positions.shape[1], "euclidean")
    index.set_seed(_SEED + 1)  # 0 is taken for none
    for item, position in enumerate(positions):
        index.add_item(item, position)
    index.build(_TREES)
    return index


_BUILDERS: dict[str, Callable[[Any], Any]] = {"faiss": _faiss, "hnswlib": _hnswlib, "annoy": _annoy}
SUFFIXES: dict[str, Library] = {".faiss": "faiss", ".hnsw": "hnswlib", ".ann": "annoy"}
