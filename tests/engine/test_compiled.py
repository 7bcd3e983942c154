import os
import subprocess
import sys

import pytest

CODE = """
import numpy as np, similitude as sm
from similitude.engine import compiled
rows = np.array([np.random.default_rng(k).permutation(90)[:3] for k in range(60)])
sm.STE(2, random_state=0, n_items=90).fit(rows)
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
