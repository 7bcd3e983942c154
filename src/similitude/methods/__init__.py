"""The methods: each estimator is a thin recipe over the engine."""
