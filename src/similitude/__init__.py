"""similitude: learn what people find similar.

Answers become `Comparisons`, a method such as `STE` or `AutoSimilarity` learns from them, and `learn` does everything
at once; `help(sm.STE)` explains a name, with an example.

Each name is imported when it is first used, so that `import similitude` costs nothing. Type checkers and editors read
them in `__init__.pyi`.

Examples
--------
>>> import similitude as sm
>>> said = [("cat", "dog", "bus"), ("dog", "cat", "car"), ("bus", "car", "cat"), ("car", "bus", "dog")]
>>> answers = sm.Comparisons.from_triplets(said)  # a cat is more like a dog than like a bus, ...
>>> model = sm.STE(n_components=2, random_state=0).fit(answers)
>>> model.neighbors("cat", k=1)
['dog']
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "AutoSimilarity": "auto.similarity",
    "learn": "report.learning.findings",
    "Findings": "report.learning.findings",
    "uncertainty": "evaluate.uncertainty",
    "Uncertainty": "evaluate.uncertainty",
    "dimension": "evaluate.dimension",
    "DimensionChoice": "evaluate.dimension",
    "more_answers": "evaluate.forecast",
    "Forecast": "evaluate.forecast",
    "RaterEmbedding": "methods.raters",
    "GroupEmbedding": "methods.groups",
    "MixedEmbedding": "methods.mixed",
    "compare": "evaluate.comparing",
    "Ratings": "feedback.ratings",
    "DRankingVM": "methods.ranking",
    "RankProjection": "methods.rank_projection",
    "CAMEL": "methods.confidence",
    "SpectralKernel": "methods.spectral",
    "FeatureEmbedding": "methods.feature_embedding",
    "TACKL": "methods.tackl",
    "penalty_path": "evaluate.penalty",
    "ComparisonKernel": "methods.comparison_kernel",
    "KernelKMeans": "methods.kernel_clustering",
    "kernel_distances": "methods.kernel_clustering",
    "kernel_linkage": "methods.kernel_clustering",
    "kernel_map": "methods.kernel_clustering",
    "choose_landmarks": "feedback.landmarks",
    "landmark_questions": "feedback.landmarks",
    "ERKLE": "methods.online.erkle",
    "OnlineEmbedding": "methods.online.embedding",
    "active_curve": "active.curve",
    "answers_needed": "active.curve",
    "next_questions": "active.select",
    "plan": "active.plan",
    "refit": "active.refit",
    "RCKL": "methods.kernel_learning",
    "RCKLAK": "methods.auxiliary_kernels",
    "RCKLMKL": "methods.auxiliary_kernels",
    "KPOE": "methods.partial_order",
    "LPOE": "methods.partial_order",
    "MKPOE": "methods.partial_order",
    "acyclic": "graph.clean",
    "clean": "graph.clean",
    "drop_contradictions": "graph.clean",
    "drop_raters": "graph.clean",
    "majority": "graph.clean",
    "reduce": "graph.clean",
    "exact_embedding": "graph.order",
    "CleanedWarning": "methods.similarity",
    "procrustes_distance": "evaluate.scores",
    "align": "evaluate.scores",
    "separation": "evaluate.scores",
    "rand_index": "evaluate.scores",
    "purity": "evaluate.scores",
    "calibration_error": "evaluate.scores",
    "calibration": "evaluate.scores",
    "log_loss": "evaluate.scores",
    "mean_likelihood": "evaluate.scores",
    "answer_accuracy": "evaluate.scores",
    "head_auc": "evaluate.scores",
    "accuracy": "evaluate.scores",
    "learning_curve": "evaluate.validation",
    "cross_validate": "evaluate.validation",
    "AnswerFold": "evaluate.folds",
    "ConsistencyReport": "graph.consistency",
    "check": "graph.consistency",
    "limit_threads": "engine.threads",
    "FeedbackWarning": "methods.base",
    "Similarity": "methods.similarity",
    "ComparisonLoss": "engine.terms",
    "Embedding": "methods.embedding",
    "TSTE": "methods.ordinal",
    "STE": "methods.ordinal",
    "SOE": "methods.ordinal",
    "GNMDS": "methods.ordinal",
    "CKL": "methods.ordinal",
    "Answers": "feedback.answers",
    "Comparisons": "feedback.comparisons",
    "ComparisonDataset": "feedback.files.dataset",
    "ComparisonWriter": "feedback.files.dataset_writer",
    "PassReport": "graph.passes",
    "spread": "distributed.partitions",
    "PartialAnswerWarning": "feedback.comparisons",
    "write_comparisons": "feedback.files.read_write",
    "read_comparisons": "feedback.files.read_write",
    "Labels": "feedback.labels",
    "Links": "feedback.links",
    "random_questions": "feedback.questions",
    "Raters": "feedback.simulation.raters",
    "simulate": "feedback.simulation.simulate",
}

_ROOMS = ("kernels", "plot")

__all__ = sorted([*_HOME, *_ROOMS])


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return importlib.import_module(f"similitude.{name}")
    if name not in _HOME:
        import difflib

        near = difflib.get_close_matches(name, __all__, 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"module 'similitude' has no attribute {name!r}{hint}")
    value = getattr(importlib.import_module(f"similitude.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
