"""salmon-triplets 1.0.3: its information-gain scorer, as its adaptive samplers call it."""

from __future__ import annotations

import sys

import numpy as np
from salmon.triplets.samplers.adaptive import InfoGainScorer
from salmon.triplets.samplers.adaptive.search._search import STE_probs
from serve import serve


def scorer(embedding, history, strategy):  # noqa: ARG001  it has one strategy
    """Return a function that scores rows (head, b, c)."""
    found = InfoGainScorer(embedding=embedding.astype(np.float32), probs=STE_probs)
    found.push(history.tolist())
    return lambda questions: found.score(queries=questions)[1]


if __name__ == "__main__":
    serve(sys.modules[__name__])
