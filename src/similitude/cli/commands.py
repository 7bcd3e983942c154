"""The command line: `similitude demo | simulate | info | convert | check | clean | plot`.

`fit` and `evaluate` stand in `cli.fitting`, `learn` in `cli.learn`, `next` and `update` in `cli.asking`, `compare` in
`cli.comparing`, those of a study in `cli.study` and `cli.study_maintenance`. Commands are thin: each calls the library
and says the Python that does the same. Heavy imports wait until a command runs, so that `--help` answers at once. Exit
status: 0 done, 1 what was asked cannot be done (a sentence says why), 2 wrong usage, 3 (`check`) something is worth a
look.
"""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude import __version__
from similitude.cli.kinds import MODEL, expecting, is_model
from similitude.cli.output import phases, same_in_python, summary, write_unicode
from similitude.cli.reading import Reading, in_words_of_the_shell, reads_answers
from similitude.cli.targets import check_apart, check_file
from similitude.cli.usage import Commands
from similitude.display.words import listed

app = Commands(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Projection(StrEnum):
    """How more than two dimensions are drawn."""

    pca = "pca"
    tsne = "tsne"


def _check_jobs(jobs: int) -> int:
    """Refuse no process, before any work."""
    if not jobs:
        raise typer.BadParameter(
            "expected a number of processes, or -1 for as many as there are cores, found 0", param_hint="--jobs"
        )
    return jobs


AnswersFile = Annotated[
    Path, typer.Argument(help="answers: .csv, .xlsx, .json, .parquet, ..., or a folder with a file per participant")
]
AnswersFiles = Annotated[
    list[Path], typer.Argument(help="answers: .csv, .xlsx, .json, .parquet, ...; several files, or a folder of them")
]
Model = Annotated[Path, typer.Argument(help="a model (.sim) written by fit")]
Seed = Annotated[int, typer.Option(min=0, help="seed: the same seed gives the same result")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", callback=_check_jobs, help="processes; -1 is as many as there are cores")
]
Dimensions = Annotated[int, typer.Option("--dimensions", "-d", min=1, help="dimensions of the map")]


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"similitude {__version__}")
        raise typer.Exit


@app.callback()
def _whole(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="say which version this is")
    ] = False,
) -> None:
    """Learn what people find similar: from answers to a map, a distance, a prediction."""


@app.command()
def demo(folder: Annotated[Path, typer.Argument(help="folder to write")] = Path("demo")) -> None:
    """Simulated raters judge 60 colours; a map is learned from their answers, drawn, and reported on."""
    from similitude import demo as colours
    from similitude.analysis.whole_folder import check_folder

    check_folder(folder / "report", "report.html", "path")
    script = sys.argv[0] if Path(sys.argv[0]).name == "similitude" else "python -m similitude"
    with phases(colours.SECONDS) as step:
        colours.main(folder, "similitude" if shutil.which("similitude") else script, step)


@app.command()
def simulate(
    out: Annotated[Path, typer.Argument(help="file to write: .csv, .jsonl or .parquet")],
    items: Annotated[int, typer.Option(min=3, help="number of items")] = 30,
    answers: Annotated[int, typer.Option(min=1, help="number of answers")] = 2000,
    dimensions: Dimensions = 2,
    form: Annotated[str, typer.Option(help="form of question")] = "triplet",
    raters: Annotated[int, typer.Option(min=1, help="number of raters")] = 10,
    sharpness: Annotated[float, typer.Option(min=0, help="how strongly differences decide an answer")] = 2.0,
    flip: Annotated[float, typer.Option(min=0, max=1, help="share of answers that are reversed")] = 0.0,
    seed: Seed = 0,
) -> None:
    """Write the answers of simulated raters about items at random positions: for rehearsing an analysis."""
    import numpy as np

    import similitude as sm
    from similitude.feedback.files.read_write import check_target

    check_target(out)
    truth = np.random.default_rng(seed).normal(size=(items, dimensions))
    names = [f"item{k:0{len(str(items - 1))}d}" for k in range(items)]
    settings: dict[str, Any] = {"form": form, "raters": raters, "sharpness": sharpness, "flip": flip}
    made = sm.simulate(truth, answers, names=names, random_state=seed + 1, **settings)
    sm.write_comparisons(made, out)
    typer.echo(f"{out}: {summary(made)}")
    options = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    same_in_python(
        f"truth = np.random.default_rng({seed}).normal(size=({items}, {dimensions}))",
        f"names = [f'item{{k:0{len(str(items - 1))}d}}' for k in range({items})]",
        f"c = sm.simulate(truth, {answers}, {options}, names=names, random_state={seed + 1})",
        f"sm.write_comparisons(c, {str(out)!r})",
        before=["import numpy as np"],
    )


@app.command()
@reads_answers
def info(
    files: Annotated[list[Path], typer.Argument(help="answers, a folder of comparisons, or a model (.sim)")],
    *,
    reading: Reading,
) -> None:
    """Say what is understood of a file of answers, or what a model is."""
    import similitude as sm

    file = files[0]
    if is_model(file):
        reading.refuse(f"{file} is a model, which is read as it is; leave it out")
        if len(files) > 1:
            raise typer.BadParameter("expected a model alone, or answers", param_hint="FILES")
        similarity = load_model(file)
        typer.echo(f"{file}: {summary(similarity)}")
        _say_model(similarity)
        same_in_python(f"s = sm.Similarity.load({str(file)!r})", "print(s, s.about)")
        return
    c, steps = reading.read(*files)
    if not isinstance(c, sm.Comparisons):
        typer.echo(f"{file}: {summary(c)}")
        _say_counts(c)
        same_in_python(*steps, "print(c)")
        return
    table = c.answers.form.values
    for kind in sorted(set(table)):
        typer.echo(f"  {kind:18} {(table == kind).sum()} answers")
    compared = len(c.items_compared)
    if compared < c.n_items:
        typer.echo(f"  {c.n_items - compared} items were never compared")
    typer.echo(f"  comparisons: {len(c):,}, per item {len(c) / max(compared, 1):.1f}")
    understood = steps[0].replace("c = sm.read_comparisons", "understood = sm.understand")
    same_in_python(understood, "print(understood)", "c = understood.comparisons", *steps[1:], "print(c)")


@app.command()
@reads_answers
def convert(
    source: AnswersFile,
    target: Annotated[Path, typer.Argument(help="to write: .csv, .tsv, .jsonl or .parquet, or a folder (no suffix)")],
    *,
    reading: Reading,
) -> None:
    """Turn a file of answers into another format, in the layout that loses nothing."""
    import similitude as sm
    from similitude.feedback.files.read_write import check_target

    check_target(target)
    check_apart([("path", target)], source, reading.names)
    c, steps = reading.read(source)
    sm.write_comparisons(c, target)
    typer.echo(f"{target}: {summary(c)}")
    same_in_python(*steps, f"sm.write_comparisons(c, {str(target)!r})")


@app.command()
@reads_answers
def check(
    files: AnswersFiles,
    html: Annotated[Path | None, typer.Option(help="write the report as one HTML page")] = None,
    json: Annotated[Path | None, typer.Option(help="write all figures as JSON")] = None,
    *,
    reading: Reading,
) -> None:
    """Say how far answers can be trusted; exit status 3 where something is worth a look."""
    import json as encoder

    import similitude as sm
    from similitude.feedback.files.whole import write_whole

    if html is not None:
        check_file(html, "--html", ".html", ".htm")
    if json is not None:
        check_file(json, "--json", ".json")
    check_apart([("--html", html), ("--json", json)], *files, reading.names)
    c, steps = reading.read(*files)
    file = files[0]
    if html is not None and not isinstance(c, sm.Comparisons):
        raise ValueError("--html: a folder is checked in passes, which do not fill the page; use --json")
    report = sm.check(c)
    typer.echo(str(report))
    if html is not None:
        from similitude.analysis.consistency import consistency_page

        write_whole(html, consistency_page(report, f"Can the answers in {file.name} be trusted?").encode())
        typer.echo(f"the report is in {html}")
    if json is not None:
        write_whole(json, encoder.dumps(report.to_dict(), indent=1).encode())
        typer.echo(f"all figures are in {json}")
    for doubt in report.doubts():
        typer.echo(f"worth a look: {doubt}")
    same_in_python(*steps, "print(sm.check(c))")
    if report.doubts():
        raise typer.Exit(3)


@app.command()
@reads_answers
def clean(
    source: AnswersFile,
    target: Annotated[Path, typer.Argument(help="file to write: .csv, .tsv, .jsonl or .parquet")],
    reduce: Annotated[bool, typer.Option(help="drop, too, what the rest implies")] = False,
    *,
    reading: Reading,
) -> None:
    """Take out contradictions: the majority's votes, then a large part without circles. For training, not scoring."""
    import similitude as sm
    from similitude.feedback.files.read_write import check_target

    check_target(target)
    check_apart([("path", target)], source, reading.names)
    c, steps = reading.read(source)
    cleaned = sm.clean(c, reduce=reduce)
    sm.write_comparisons(cleaned, target)
    for step in cleaned.removed:
        typer.echo(f"{step.step:12} {step.why} (weight {step.weight:g})")
    typer.echo(f"{target}: {summary(cleaned)}")
    same_in_python(*steps, f"sm.write_comparisons(sm.clean(c, reduce={reduce}), {str(target)!r})")


@app.command()
def plot(
    model: Model,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="picture to write (default: MODEL with .png)")] = None,
    labels: Annotated[bool | None, typer.Option(help="write the items' names (default: where they fit)")] = None,
    names: Annotated[
        Path | None, typer.Option(help="table with what the model calls an item (a number) first, then its name")
    ] = None,
    images: Annotated[Path | None, typer.Option(help="folder of pictures named as the items")] = None,
    projection: Annotated[Projection, typer.Option(help="how more than two dimensions are drawn")] = Projection.pca,
) -> None:
    """Draw the map of a model: .png at print resolution, .pdf or .svg as vectors."""
    import similitude as sm
    from similitude.plot.style import check_picture

    target = out or model.with_suffix(".png")
    check_picture(target, "--out")
    similarity = load_model(model)
    pictures = None if images is None else pictures_of(images, similarity)
    check_apart([("--out", target)], model, names, *(pictures or {}).values())
    written: Any = labels if names is None else _named_anew(similarity, names)
    axes = sm.plot.embedding(similarity, labels=written, images=pictures, projection=projection.value)
    sm.plot.save(axes, target)
    typer.echo(f"the map is in {target}")
    options = "".join(
        f", {name}={value!r}"
        for name, value in {
            "labels": written,
            "images": pictures and "pictures",
            "projection": projection.value,
        }.items()
        if value not in (None, "pca")
    )
    same_in_python(
        f"axes = sm.plot.embedding(sm.Similarity.load({str(model)!r}){options})".replace("'pictures'", "pictures"),
        f"sm.plot.save(axes, {str(target)!r})",
    )


def _named_anew(similarity: Any, path: Path) -> list[str]:
    """The names of a model's items from a table; one without a row keeps its own, where that is more than a number."""
    from similitude.feedback.files.names import read_names

    called, own = read_names(path), [similarity.label(item) for item in range(similarity.n_items)]
    if not set(own) & set(called):
        raise ValueError(f"{path.name}: no row is about an item of the model ({own[0]}, ...)")
    missing = [name for name in own if name not in called]
    if missing and all(name.isdecimal() for name in own):  # a table that counts from 1 would be one off
        raise ValueError(
            f"{path.name}: there is no name for item {missing[0]!r}; expected one for each from {own[0]} to {own[-1]}"
        )
    return [called.get(name, name) for name in own]


def model_in(path: Path) -> Path:
    """The model of a folder that `learn` wrote; any other path as it is."""
    inside = path / "model.sim"
    return inside if inside.is_file() else path


def load_model(path: Path) -> Any:
    """Read a model; a file of another kind is told by what it is."""
    import similitude as sm

    with expecting(path, MODEL):
        return sm.Similarity.load(path)


def _say_model(similarity: Any) -> None:
    """Say how a model was made, and what it knows beside positions."""
    about, known, answering = similarity.about, similarity.feature_map, similarity.answering
    lines: dict[str, Any] = {"chosen": "; ".join(about["chosen"])} if "chosen" in about else {}
    lines |= {"search": about["search"]} if about.get("search", "finished") != "finished" else {}
    lines |= {"penalty used": f"{about['penalty']:.3g}"} if "penalty" in about else {}
    lines |= about.get("settings", {})
    if known is not None:
        lines["takes vectors"] = f"of {known.width} numbers" if known.width else f"of {', '.join(known.modalities)}"
    if answering is not None:
        lines |= {"can't tell": f"{answering.cant_tell:.0%} at most"} if getattr(answering, "cant_tell", 0.0) else {}
    if answering is not None and answering.names:
        lines["tells apart"] = f"{', '.join(answering.names[:5])}{', ...' if len(answering.names) > 5 else ''}"
    if "data" in about:
        lines["learned from"] = ", ".join(
            f"{value} {name}" for name, value in about["data"].items() if name not in ("digest", "never_compared")
        )
        absent = about["data"].get("never_compared", [])
        lines |= {"never compared": listed(map(similarity.label, absent), len(absent))} if absent else {}
        lines["digest"] = about["data"].get("digest", "-")
    if "versions" in about:
        lines["made with"] = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    for name, value in lines.items():
        typer.echo(f"  {name:18} {value}")


def _say_counts(dataset: Any) -> None:
    """Say what one pass over a folder of comparisons counts."""
    from similitude.graph.counts import count_shards

    counts = count_shards(dataset)
    compared = int((counts.occurrences > 0).sum())
    if compared < dataset.n_items:
        typer.echo(f"  {dataset.n_items - compared} items were never compared")
    typer.echo(f"  comparisons per item: {counts.comparisons / compared:.1f}")
    if counts.weight != counts.comparisons:
        typer.echo(f"  total weight: {counts.weight:g}")


def pictures_of(folder: Path, about: Any) -> dict[Any, Path]:
    """Find the pictures of the items of a model or feedback: files named as an item, with or without suffix."""
    from similitude.display.pictures import pictures_in

    names = about.names or tuple(str(k) for k in range(about.n_items))
    files = pictures_in(folder, names)
    found = {k: files[name] for k, name in enumerate(names) if name in files}
    for path in found.values():
        _check_picture(path)
    return found


def _check_picture(path: Path) -> None:
    """Refuse, before any work, a picture that cannot be read to its end, or that is too large to be."""
    from PIL import Image, UnidentifiedImageError

    try:
        with warnings.catch_warnings(), Image.open(path) as picture:
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            picture.load()
    except Image.DecompressionBombError:
        raise ValueError(f"--images: {path} has too many pixels; make it smaller") from None
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise ValueError(
            f"--images: {path} is no picture that can be read ({error}); expected PNG, JPEG, ..., not cut off"
        ) from None


def main() -> None:
    """Run the command line; an error is one sentence and exit status 1."""
    warnings.showwarning = _one_sentence
    write_unicode()
    os.environ.setdefault("MPLBACKEND", "agg")  # pictures go to files: no window system is asked for, or waited for
    try:
        _program()()
    except (ValueError, TypeError, OSError, ImportError) as error:
        typer.secho(f"similitude: {_sentence(error)}", fg="red", err=True)
        sys.exit(1)


@cache
def _program() -> Any:
    """All commands, put together once: a process may run several."""
    return typer.main.get_command(app)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return in_words_of_the_shell(str(error))


def _one_sentence(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.secho(f"note: {in_words_of_the_shell(str(message))}", fg="yellow", err=True)
