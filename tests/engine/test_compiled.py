import os
import subprocess
import sys

import pytest

CODE = """
import numpy as np, similitude as sm
from similitude.engine import compiled
from similitude.engine.comparison_terms import Compared
from similitude.engine.losses import as_loss
from similitude.engine.models import Positions
from similitude.engine.penalties import Ridge
from similitude.engine.problem import Problem
from similitude.graph.build import build_graph
rows = np.array([np.random.default_rng(k).permutation(90)[:3] for k in range(60)])
graph = build_graph(sm.Comparisons.from_triplets(rows, n_items=90))
Problem(Positions(90, 2), Compared(graph, as_loss("ste")), Ridge(0.1)).value_and_gradient(np.ones(180))
print(sum(compiled.embedding.stats.cache_hits.values()), sum(compiled.embedding.stats.cache_misses.values()))
"""


@pytest.mark.slow
def test_a_second_process_finds_the_kernels_compiled(tmp_path):
    """Numba's cache is easily lost: a kernel with another compiled function in its closure is never found again."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    counts = []
    for _ in range(2):
        command = [sys.executable, "-W", "ignore", "-c", CODE]
        counts.append(subprocess.check_output(command, env=environment, text=True).split())
    assert counts == [["0", "1"], ["1", "0"]]
