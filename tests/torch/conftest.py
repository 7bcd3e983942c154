"""Encoders: everything here needs torch, which the suite does not bring."""

import pytest


@pytest.fixture(scope="session")
def torch():
    """PyTorch, on one thread; what asks for it is left out where it is missing."""
    module = pytest.importorskip("torch", reason="torch is not installed: pip install 'similitude[gpu]'")
    module.set_num_threads(1)
    return module


@pytest.fixture(scope="session")
def st(torch):
    """The room under test, which cannot be imported without torch."""
    import similitude.torch

    return similitude.torch
