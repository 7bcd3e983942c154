"""A served model of 5,000 items and vectors of 512 numbers: waits and rows a second, by request and size of batch.

Everything on loopback and on this machine's cores: the server is one process, its clients are another. Beside each
request to `/transform` stands what the same rows take in this process by `Similarity.transform`: the rest is reading
numbers as text, and HTTP.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import similitude as sm
from benchmarks.report import Row, Table
from benchmarks.settings import HERE, Settings
from benchmarks.topics.ship import DIMENSIONS, NUMBERS, shipped

LONG = False
COLUMNS = {
    "request": "", "rows": ",d", "connections": "d", "requests a second": ",.0f", "rows a second": ",.0f",
    "p50 ms": ".2f", "p99 ms": ".2f", "transform alone ms": ".3f",
}  # fmt: skip


def run(settings: Settings) -> Iterator[Table]:
    model, vectors = shipped(settings.quick)
    items = len(vectors)
    table = Table(
        "serving",
        f"A served model of {items:,} items, vectors of {NUMBERS} numbers, {DIMENSIONS} dimensions",
        COLUMNS,
        note="one server process, one of clients that send without a pause, loopback",
    )
    seconds = 1.0 if settings.quick else 8.0
    with served(model.similarity_) as port:
        for path, rows, connections in cases():
            body = body_of(path, vectors[np.arange(rows) % items], items)
            asked(port, path, connections, seconds / 4, body)  # warm
            table.rows.append(measured(model.similarity_, port, path, rows, connections, seconds, body))
    yield table


def cases() -> list[tuple[str, int, int]]:
    return [
        ("/transform", 1, 1), ("/transform", 1, 8), ("/transform", 100, 1), ("/transform", 1000, 1),
        ("/transform, packed", 1, 8), ("/transform, packed", 1000, 1),
        ("/neighbors of items", 1, 1), ("/neighbors of items", 1, 8), ("/neighbors of items", 100, 1),
        ("/neighbors of vectors", 1, 8), ("/predict", 1, 8), ("/predict", 1000, 1),
    ]  # fmt: skip


def body_of(path: str, vectors: np.ndarray, items: int) -> bytes:
    rows = len(vectors)
    if path.endswith("packed"):
        return vectors.astype("<f4").tobytes()
    triplets = np.random.default_rng(1).permuted(np.tile(np.arange(items), (rows, 1)), axis=1)[:, :3]
    content: dict[str, Any] = {
        "/transform": {"vectors": vectors.tolist()},
        "/neighbors of items": {"items": triplets[:, 0].tolist(), "k": 10},
        "/neighbors of vectors": {"vectors": vectors.tolist(), "k": 10},
        "/predict": {"comparisons": triplets.tolist()},
    }[path]
    return json.dumps(content).encode()


def measured(
    similarity: sm.Similarity, port: int, path: str, rows: int, connections: int, seconds: float, body: bytes
) -> Row:
    took, waits = asked(port, path, connections, seconds, body)
    a_second = len(waits) / took
    alone = None
    if path == "/transform":
        vectors = np.array(json.loads(body)["vectors"])
        alone = 1000 * min(_seconds(similarity, vectors) for _ in range(50))
    return {
        "request": path, "rows": rows, "connections": connections, "requests a second": a_second,
        "rows a second": rows * a_second, "p50 ms": float(np.percentile(waits, 50)),
        "p99 ms": float(np.percentile(waits, 99)), "transform alone ms": alone,
    }  # fmt: skip


def _seconds(similarity: sm.Similarity, vectors: np.ndarray) -> float:
    start = time.perf_counter()
    similarity.transform(vectors)
    return time.perf_counter() - start


@contextmanager
def served(similarity: sm.Similarity) -> Iterator[int]:
    """The model on a server of its own; its port."""
    with tempfile.TemporaryDirectory() as folder:
        similarity.save(Path(folder, "model.sim"))
        command = [sys.executable, "-m", "similitude.cli", "serve", str(Path(folder, "model.sim")), "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(3)]
            try:
                yield int(lines[1].split()[1].rpartition(":")[2])
            finally:
                process.terminate()


def asked(port: int, path: str, connections: int, seconds: float, body: bytes) -> tuple[float, np.ndarray]:
    """Let a process of clients ask; seconds it took, and every wait in milliseconds."""
    kind = "application/octet-stream" if path.endswith("packed") else "application/json"
    command = [sys.executable, str(HERE / "workers" / "serving_load.py"), str(port), path.split()[0].strip(","), kind]
    done = subprocess.run([*command, str(connections), str(seconds)], input=body, capture_output=True)
    if done.returncode:
        raise RuntimeError(done.stderr.decode())
    found = json.loads(done.stdout)
    return found["seconds"], np.array(found["waits"])
