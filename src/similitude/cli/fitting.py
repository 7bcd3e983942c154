"""`similitude fit` learns a map by one method; `similitude evaluate` compares methods on held-out answers."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.commands import (
    AnswersFiles,
    Dimensions,
    Jobs,
    Seed,
    app,
    load_model,
)
from similitude.cli.kinds import FEATURES, expecting
from similitude.cli.output import in_shell, progress, same_in_python, show, summary
from similitude.cli.reading import Reading, reads_answers
from similitude.cli.targets import MODELS, TABLES, beside, check_apart, check_file
from similitude.cli.usage import refuse_given


class Method(StrEnum):
    """The methods that `fit` and `evaluate` know: maps of as many dimensions as you ask for."""

    STE = "STE"
    TSTE = "TSTE"
    CKL = "CKL"
    SOE = "SOE"
    GNMDS = "GNMDS"
    FeatureEmbedding = "FeatureEmbedding"
    TACKL = "TACKL"
    RankProjection = "RankProjection"


class By(StrEnum):
    """What is held out together."""

    answer = "answer"
    rater = "rater"


_OF_METHODS = ("method", "dimensions", "penalty", "features", "by", "folds", "jobs", "csv", "seed")  # of evaluate
_FROM_FEATURES = (Method.FeatureEmbedding, Method.TACKL, Method.RankProjection)
Penalty = Annotated[str, typer.Option(help="strength of regularisation: a number, or auto")]
Features = Annotated[
    Path | None, typer.Option(help="table of features (.csv, .xlsx, .parquet, ...): names first, then numbers")
]


@app.command()
@reads_answers
def fit(
    files: AnswersFiles,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="model to write (default: FILE with .sim)")] = None,
    method: Annotated[
        Method | None,
        typer.Option(
            "--method", "-m", help="which method (default: STE, with features FeatureEmbedding)", case_sensitive=False
        ),
    ] = None,
    dimensions: Dimensions = 2,
    penalty: Penalty = "auto",
    features: Features = None,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Learn a map of the items and save it as a model."""
    import similitude as sm

    target = out or beside(files[0], ".sim")
    check_file(target, "--out", *MODELS)
    answers = [file for file in files if out or file != target]  # a model given as answers is told so when it is read
    check_apart([("--out", target)], *answers, features, reading.names)
    chosen = method or (Method.STE if features is None else Method.FeatureEmbedding)
    _check_features([chosen], features)
    c, steps = reading.read(*files)
    given, lines, before = known_features(features, c)
    model = getattr(sm, chosen)(dimensions, penalty=_penalty(penalty), random_state=seed)
    with progress("fitting", None) as step:
        model.fit(c, **given, callback=lambda number, objective: step(number, f"objective {objective:.4f}"))
    model.similarity_.save(target)
    typer.echo(f"{target}: {summary(model.similarity_)}")
    typer.echo(f"  {model.score(c):.1%} of the answers' comparisons are ordered correctly (the ones it learned from)")
    call = "fit(c, features=features)" if given else "fit(c)"
    same_in_python(
        *steps, *lines,
        f"model = sm.{chosen}({dimensions}, penalty={_penalty(penalty)!r}, random_state={seed}).{call}",
        f"model.similarity_.save({str(target)!r})",
        before=before,
    )  # fmt: skip
    typer.echo(f"next: similitude plot {in_shell(target)}")


@app.command()
@reads_answers
def evaluate(
    ctx: typer.Context,
    files: AnswersFiles,
    method: Annotated[
        list[Method] | None,
        typer.Option("--method", "-m", help="methods to compare (default: all)", case_sensitive=False),
    ] = None,
    model: Annotated[Path | None, typer.Option(help="score this model on the file instead")] = None,
    dimensions: Dimensions = 2,
    penalty: Penalty = "auto",
    features: Features = None,
    by: Annotated[By, typer.Option(help="what is held out together")] = By.answer,
    folds: Annotated[int, typer.Option(min=2, help="number of folds")] = 5,
    jobs: Jobs = 1,
    csv: Annotated[Path | None, typer.Option(help="write the table to this file, too")] = None,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Compare methods on held-out answers, with intervals; or score a model on answers it has not seen."""
    import similitude as sm
    from similitude.evaluate.ceiling import CLEANED
    from similitude.evaluate.intervals import too_few
    from similitude.feedback.files.whole import write_whole

    if model is not None:
        refuse_given(ctx, _OF_METHODS, "not with --model, which scores that model alone, as it is")
    if csv is not None:
        check_file(csv, "--csv", *TABLES)
    check_apart([("--csv", csv)], *files, model, features, reading.names)
    chosen = method or [name for name in Method if features is not None or name not in _FROM_FEATURES]
    if model is None:
        _check_features(chosen, features)
    known = None if model is None else load_model(model)
    c, steps = reading.read(*files, models=[] if known is None else [known])
    if known is not None:
        typer.echo(f"{known.score(c):.4f} of the comparisons in {files[0]} are ordered correctly")
        _say_whole_answers(known, c)
        same_in_python(*steps, f"print(sm.Similarity.load({str(model)!r}).score(c))")
        return
    strength = _penalty(penalty)
    given, lines, before = known_features(features, c)
    estimators = [getattr(sm, name)(dimensions, penalty=strength, random_state=seed) for name in chosen]
    with progress("folds", len(chosen) * folds) as step:
        table = sm.cross_validate(
            estimators, c, **given, by=by.value, n_folds=folds, random_state=seed, n_jobs=jobs,
            callback=lambda done, _: step(done, ""),
        )  # fmt: skip
    table = table.sort_values("accuracy", ascending=False)
    few = too_few(c.n_answers)
    if few:
        typer.echo(f"accuracy: {few}")
    elif c.cleaned:
        typer.echo(f"note: {CLEANED}")
    if not few:
        show(table, "share ordered" if c.cleaned else "accuracy")
    if csv is not None:
        write_whole(csv, table.to_csv(index=False).encode())
    settings = f"penalty={strength!r}, random_state={seed}"
    listed = ", ".join(f"sm.{name}({dimensions}, {settings})" for name in chosen)
    with_features = "features=features, " if given else ""
    call = f"sm.cross_validate([{listed}], c, {with_features}by={by.value!r}, n_folds={folds}, random_state={seed})"
    same_in_python(*steps, *lines, f"print({call})", before=before)


def _say_whole_answers(known: Any, c: Any) -> None:
    """The same of answers as wholes, where they are more than comparisons; and whether the model has seen them."""
    from similitude import Comparisons, answer_accuracy, answer_log_loss
    from similitude.methods.provenance import described_data

    if not isinstance(c, Comparisons):
        return
    if len(c) > len(set(c.answer.tolist())):
        lost = f", with a log-loss of {answer_log_loss(known, c):.3f}" if known.has_probability else ""
        typer.echo(f"{answer_accuracy(known, c):.4f} of the answers are predicted as wholes{lost}")
    data = known.about.get("data", {})
    if data.get("digest") == described_data(c)["digest"]:
        typer.echo("note: the model learned from these very answers, so that this is too good: score others")
    elif "answers" in data:
        typer.echo(f"note: an honest score where none of these are among the {data['answers']:,} that it learned from")


def known_features(path: Path | None, c: Any) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return `features=` of a table as an argument, the Python that reads it, and what that imports."""
    from similitude.feedback.files.features import read_features

    if path is None:
        return {}, [], []
    with expecting(path, FEATURES):
        values, call = read_features(path, c.names, c.n_items)
    lines = [f"features = {call}"]
    if c.names is None:
        lines.append("features = features.loc[[str(k) for k in range(c.n_items)]]")
    import pandas as pd

    named = values if c.names is None else pd.DataFrame(values, index=list(c.names))  # in the order of the items
    return {"features": named}, lines, ["import pandas as pd"]


def _check_features(methods: list[Method], features: Path | None) -> None:
    """Refuse methods that learn from features without any, and features that no method looks at."""
    needing = [method for method in methods if method in _FROM_FEATURES]
    if needing and features is None:
        raise typer.BadParameter(
            f"{needing[0]} learns from features; expected a table of them", param_hint="--features"
        )
    if features is not None and not needing:
        found = ", ".join(methods)
        raise typer.BadParameter(
            f"{found} learns from answers alone; expected one of {', '.join(_FROM_FEATURES)}", param_hint="--method"
        )


def _penalty(text: str) -> float | str:
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise typer.BadParameter(f"expected a number or auto, found {text!r}", param_hint="--penalty") from None
