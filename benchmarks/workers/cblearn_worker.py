"""cblearn 0.4.0 as its users call it: default parameters, scipy backend."""

from __future__ import annotations

import sys

import numpy as np
from cblearn import embedding, utils
from cblearn.embedding import _ckl, _gnmds, _soe, _ste
from serve import serve


def fit(method, triplets, n, d, seed, **parameters):
    estimator = getattr(embedding, method)(n_components=d, random_state=seed, **parameters)
    estimator.fit(triplets, n_objects=n)
    return estimator.embedding_, estimator.n_iter_


def objective(method, triplets, n, d):
    """Return what its scipy backend gives to L-BFGS-B, with the arguments of a default estimator."""
    rows = utils.check_query_response(triplets, None, result_format="list-order")
    function, *arguments = {
        "SOE": (_soe._soe_loss, rows[:, [0, 1, 0, 2]], 0.1),
        "STE": (_ste._ste_x_grad, rows, False),
        "TSTE": (_ste._ste_x_grad, rows, True),
        "CKL": (_ckl._ckl_x_loss, rows, 0.0),
        "GNMDS": (_gnmds._gnmds_x_grad, rows, 0.0),
    }[method]
    return lambda position: function(np.ravel(position), (n, d), *arguments)


if __name__ == "__main__":
    serve(sys.modules[__name__])
