"""What all tests share: real data where it is there, seeded chance, and hypothesis without surprises."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests import seeds

seeds.shift()
settings.register_profile(
    "similitude",
    derandomize=True,
    deadline=None,
    max_examples=40,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("similitude")


@pytest.fixture(autouse=True)
def own_seed(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test tied to its own draw keeps it, whatever other draws the run asks for."""
    with seeds.as_seeded() if request.node.get_closest_marker("own_seed") else contextlib.nullcontext():
        yield


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real judgments: $SIMILITUDE_DATA, or shared/data beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("SIMILITUDE_DATA", beside))
    if not (folder / "README.md").is_file():
        pytest.skip(f"no real data at {folder}: set SIMILITUDE_DATA to the folder that holds food100, car60, ...")
    return folder
