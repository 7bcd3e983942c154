"""Positions on their principal axes."""

import numpy as np
from scipy import linalg

from similitude.methods.scaling import principal_axes


def test_axes_are_found_where_the_faster_way_does_not_converge(monkeypatch):
    X = np.random.default_rng(0).normal(size=(30, 4)) * [4.0, 3.0, 2.0, 1.0]
    centre, turn = principal_axes(X)
    whole = linalg.svd

    def gives_up(matrix, lapack_driver="gesdd", **settings):
        if lapack_driver == "gesdd":
            raise linalg.LinAlgError("SVD did not converge")
        return whole(matrix, lapack_driver=lapack_driver, **settings)

    monkeypatch.setattr(linalg, "svd", gives_up)
    again, other = principal_axes(X)
    np.testing.assert_allclose(again, centre)
    np.testing.assert_allclose(np.abs(other.T @ turn), np.eye(4), atol=1e-9)
