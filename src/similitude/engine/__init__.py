"""The mathematics: terms, models, penalties and solvers, knowing nothing of papers."""
