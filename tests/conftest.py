"""What all tests share: real data where it is there, seeded chance, and hypothesis without surprises."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from tests import seeds

# Where the machine keeps no compiled modules, each of the hundreds of Pythons that tests start would compile them anew.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
# Threads of OpenMP (scikit-learn's) sleep while they wait: those of several workers would spin on the same cores.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def _files_in_memory() -> None:
    """Let passing files lie in memory where there is a folder for that: SQLite waits for a disk at every answer."""
    place = Path("/dev/shm")
    if place.is_dir() and os.access(place, os.W_OK):
        room = os.statvfs(place)
        if room.f_bavail * room.f_frsize > 4 << 30 and not room.f_flag & os.ST_NOEXEC:
            os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(place))


_files_in_memory()
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


# What a machine without a browser and a database server lacks, by the fixture that brings it or the parameter it has.
BEYOND_PYTHON = {"browser", "page", "postgresql"}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--fast", action="store_true", help="leave out what is slow or needs a browser or a database server"
    )
    parser.addoption(
        "--whole", action="store_true", help="run the large matrices whole, not the suite's sample of them"
    )


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Half as many workers more than cores where browsers and servers are tried, which are waited for."""
    if config.getoption("fast") or "PYTEST_XDIST_AUTO_NUM_WORKERS" in os.environ:
        return None
    cores = os.cpu_count() or 1
    return cores + cores // 2


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    asked_for = [_is_asked_for(item, config) for item in items]
    config.hook.pytest_deselected(items=[item for item, asked in zip(items, asked_for, strict=True) if not asked])
    items[:] = [item for item, asked in zip(items, asked_for, strict=True) if asked]


def _is_asked_for(item: pytest.Item, config: pytest.Config) -> bool:
    if item.get_closest_marker("whole") and not config.getoption("whole"):
        return False
    return not (config.getoption("fast") and (item.get_closest_marker("slow") or _needs_more_than_python(item)))


def _needs_more_than_python(item: pytest.Item) -> bool:
    parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
    needed = {*getattr(item, "fixturenames", ()), *(value for value in parameters if isinstance(value, str))}
    return bool(needed & BEYOND_PYTHON)


@pytest.fixture(autouse=True)
def own_seed(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test tied to its own draw keeps it, whatever other draws the run asks for."""
    with seeds.as_seeded() if request.node.get_closest_marker("own_seed") else contextlib.nullcontext():
        yield


@pytest.fixture(autouse=True)
def closed_figures() -> Iterator[None]:
    """matplotlib warns of more than twenty figures that nobody closed, whichever tests drew them."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")


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
