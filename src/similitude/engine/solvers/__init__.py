"""Solvers of a `Problem`: L-BFGS, accelerated projected gradient, sparse minibatches."""
