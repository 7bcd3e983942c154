"""`similitude learn`: from a file of answers to a folder with the model, tables, figures and one report."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.commands import AnswersFiles, Seed, app, pictures_of
from similitude.cli.fitting import Features, known_features
from similitude.cli.output import in_shell, phases, same_in_python
from similitude.cli.reading import Reading, reads_answers


@app.command()
@reads_answers
def learn(
    files: AnswersFiles,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="folder to write (default: FILE without its ending, and _report)")
    ] = None,
    features: Features = None,
    images: Annotated[Path | None, typer.Option(help="folder of pictures named as the items")] = None,
    title: Annotated[str | None, typer.Option(help="title of the report")] = None,
    method: Annotated[
        str | None, typer.Option(help="CKL, TSTE, STE, SOE, GNMDS or FeatureEmbedding; else chosen")
    ] = None,
    dimensions: Annotated[int | None, typer.Option(min=1, help="number of dimensions; else chosen")] = None,
    penalty: Annotated[float | None, typer.Option(min=0, help="penalty of the method; else chosen")] = None,
    average: Annotated[bool, typer.Option("--average", help="an average of several fits instead of one model")] = False,
    time_limit: Annotated[float, typer.Option(min=1, help="seconds for everything; what it ends is left out")] = 60.0,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="processes")] = 1,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Choose a model, learn it, and write a report: one HTML page, with tables, figures and the model beside it."""
    import similitude as sm

    c, steps = reading.read(*files)
    if not isinstance(c, sm.Comparisons):
        raise ValueError(f"{files[0]}: a folder of comparisons is learned by fit; learn takes answers")
    file = files[0]
    target = out or Path(f"{file.with_suffix('').with_suffix('')}_report")
    known, lines, before = known_features(features, c)
    labels = c.names or [str(k) for k in range(c.n_items)]
    shown = {} if images is None else {labels[k]: path for k, path in pictures_of(images, c).items()}
    wanted: dict[str, Any] = {"method": method, "n_components": dimensions, "penalty": penalty, "average": average}
    settings = {name: value for name, value in wanted.items() if value is not None and value is not False}
    settings["time_limit"] = time_limit
    with phases(time_limit) as step:
        found = sm.learn(c, **known, **settings, random_state=seed, n_jobs=jobs, step=step)
    heading = title or f"What people find similar: {file.stem}"
    given: dict[str, Any] = {
        "--out": out,
        "--features": features,
        "--images": images,
        "--title": title,
        "--method": method,
        "--dimensions": dimensions,
        "--penalty": penalty,
    }
    options = [f"{name} {in_shell(value)}" for name, value in given.items() if value is not None]
    options += ["--average"] * average + reading.in_shell
    command = " ".join(
        ["similitude learn", *map(in_shell, files), *options, f"--time-limit {time_limit:g} --seed {seed}"]
    )
    report = found.save(target, heading, images=shown, colours=_colours(c.names), command=command)
    typer.echo(f"{report}: the report; model, tables and figures are beside it")
    with_features = "features=features, " if known else ""
    said = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    call = f"sm.learn(c, {with_features}{said}, random_state={seed})"
    same_in_python(*steps, *lines, f"{call}.save({str(target)!r}, {heading!r})", before=before)


def _colours(names: Any) -> dict[str, str]:
    """Items that are called #rrggbb are shown in that colour."""
    return {name: name for name in names or () if re.fullmatch("#[0-9a-fA-F]{6}", name)}
