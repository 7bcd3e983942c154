"""The commands of asking: `similitude next` chooses questions, `similitude update` learns from their answers."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from similitude.cli.commands import Model, Seed, app, load_model
from similitude.cli.output import same_in_python, summary
from similitude.cli.reading import Reading, reads_answers
from similitude.cli.targets import MODELS, check_apart, check_file

_QUESTIONS = (".csv", ".tsv", ".jsonl")


class StrategyName(StrEnum):
    """How `next` chooses questions."""

    information_gain = "information_gain"
    uncertainty = "uncertainty"
    ackl = "ackl"
    landmark = "landmark"
    sequential = "sequential"
    random = "random"


def _forms_to_ask() -> list[str]:
    """The forms of question that `next` can ask; read when a shell completes one, since forms need numpy."""
    from similitude.feedback.forms import picking_forms

    return list(picking_forms())


@app.command(name="next")
@reads_answers
def next_questions(
    model: Model,
    number: Annotated[int, typer.Option("--number", "-n", min=1, help="number of questions")] = 20,
    asked: Annotated[Path | None, typer.Option(help="the answers so far: never ask again, ask where unsure")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="file to write (.csv, .tsv, .jsonl); else they are printed")
    ] = None,
    strategy: Annotated[StrategyName, typer.Option(help="how questions are chosen")] = StrategyName.information_gain,
    asks: Annotated[
        str, typer.Option(help="form of the questions (odd_one_out, ...)", autocompletion=_forms_to_ask)
    ] = "triplet",
    random_share: Annotated[float, typer.Option(min=0, max=1, help="share of random questions, for testing")] = 0.1,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Choose the next questions to ask; the column `response` filled in, they are answers.

    Write there the name of the item that was chosen; what else may be written, for other forms too, is said with -o.
    """
    import similitude as sm
    from similitude.feedback.files.whole import write_whole
    from similitude.feedback.forms import find

    if out is not None:
        check_file(out, "--out", *_QUESTIONS)
    check_apart([("--out", out)], model, asked, reading.names)
    if asked is None:
        reading.refuse("no answers are read; give those so far to --asked, or leave it out")
    similarity = load_model(model)
    _check_items(similarity, reading)
    c, steps = (None, []) if asked is None else reading.read(asked, models=[similarity], say=out is not None)
    chosen: dict[str, Any] = {"strategy": strategy.value, "form": asks, "random_share": random_share}
    try:
        table = sm.next_questions(similarity, number, asked=c, random_state=seed, **chosen)
    except ValueError as error:
        raise ValueError(_in_own_words(str(error))) from None
    text = _written(table, "" if out is None else out.suffix.lower())
    if out is None:
        typer.echo(text, nl=False)
    else:
        write_whole(out, text.encode())
        typer.echo(f"{out}: {number} questions; write in the column response, in each row:")
        typer.echo(f"  {find(table.form[0]).how_to_fill_in()}")
        typer.echo('  an empty cell is "can\'t tell": leave out the rows of questions that nobody has answered')
    options = "".join(f", {name}={value!r}" for name, value in chosen.items())
    call = f"sm.next_questions(s, {number}{options}, asked={'None' if c is None else 'c'}, random_state={seed})"
    same_in_python(f"s = sm.Similarity.load({str(model)!r})", *steps, f"print({call})")


def _in_own_words(message: str) -> str:
    """What the library says of its arguments, said of the options that give them."""
    for argument, option in (("form", "--asks"), ("n", "--number"), ("random_share", "--random-share")):
        message = re.sub(rf"^{argument}: ", f"{option}: ", message)
    return message.replace(", widen the pool, or give repeat=True to ask again", "")


def _written(table: Any, ending: str) -> str:
    """Questions as the text of a file, with room for the response to each."""
    import json
    from functools import partial

    if ending == ".jsonl":
        return str(table.round(4).assign(response=None).to_json(orient="records", lines=True, force_ascii=False))
    shown = table.shown.map(partial(json.dumps, ensure_ascii=False))
    separator = "\t" if ending == ".tsv" else ","
    return str(table.assign(shown=shown, response="").round(4).to_csv(index=False, sep=separator))


def _check_items(similarity: Any, reading: Reading) -> None:
    """Refuse to leave items out of the answers that the model has: it would ask about them all the same."""
    own = [similarity.label(item) for item in range(similarity.n_items)]
    dropped = [name for name in own if name in (reading.drop_item or ())]
    others = [name for name in own if reading.only_items and name not in reading.only_items]
    for option, names in (("--drop-item", dropped), ("--only-items", others)):
        if names:
            raise typer.BadParameter(
                f"the model has {names[0]}, and would ask about it; learn one with the same option (fit, learn)",
                param_hint=option,
            )


@app.command()
@reads_answers
def update(
    model: Model,
    answers: Annotated[list[Path], typer.Argument(help="files of answers: all so far, old and new")],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="model to write (default: MODEL itself)")] = None,
    seed: Seed = 0,
    *,
    reading: Reading,
) -> None:
    """Learn a model again from all answers so far, starting from where its items are."""
    import similitude as sm
    from similitude.feedback.files.whole import check_place

    target = out or model
    if out is None:
        check_place(target, "MODEL")
    else:
        check_file(out, "--out", *MODELS)
    check_apart([("--out", out)], *answers, reading.names)  # the model itself is what it replaces
    old = load_model(model)
    c, steps = reading.read(*answers, models=[old])
    updated = sm.refit(old, c, random_state=seed)
    updated.save(target)
    joined = len(updated.embedding) - len(old.embedding)
    typer.echo(f"{target}: {summary(updated)}" + (f", {joined} of them new" if joined else ""))
    typer.echo(f"  {updated.score(c):.1%} of the answers' comparisons are ordered correctly (the ones it learned from)")
    same_in_python(
        *steps,
        f"s = sm.refit(sm.Similarity.load({str(model)!r}), c, random_state={seed})",
        f"s.save({str(target)!r})",
    )
