"""Does choosing questions pay in a study as it is served, not only in a replay?

Whole studies are run through the service: raters join, are asked, and answer through the writer into the database; the
model process works in between, round by round, with the settings that `study.toml` has by default (a fifth of the
questions drawn at random, one in twenty asked again, a pool of 200, a fit every 200 answers at the latest). Ten raters
answer in turns, one answer each between two rounds of the model. Each rater is asked 100 questions and is followed by
another. The other study draws all its questions at random.

Items and noise are those of the first part of `reproduce.active`, where nothing stands between the model and the rater:
60 items in two dimensions, 5 % of the answers to random questions wrong. The error is that of a model fitted to all
answers so far (the best of a warm, a spectral and a random start) on 10,000 random questions answered without noise.

Run: python -m reproduce.study
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import similitude as sm
from reproduce.claims import Ledger
from reproduce.trials import kept_trials, verdict
from similitude.active.curve import answers_needed, summarised
from similitude.active.plan import sharpness_of
from similitude.active.sources import error_of
from similitude.methods.refit import best_fit
from similitude.study.log import comparisons_of, read_log
from similitude.study.service import Joining, Said, StudyService
from similitude.study.site import open_site
from similitude.study.worker import StudyWorker

SEEDS, ITEMS, WRONG = 5, 60, 0.05
STRATEGIES = ("random", "information_gain")
TARGET = 0.04
AT_ONCE, LENGTH, EVERY = 10, 100, 100
SHOWN = (100, 200, 300, 400, 600, 800, 1000, 1200, 1600, 2000, 2400, 2700)
MOST = {"random": 2700, "information_gain": 1600}


class People:
    """Raters who see the truth, with noise: as many at a time as answer at once."""

    def __init__(self, service: StudyService, truth: np.ndarray, seed: int) -> None:
        self.service, self.truth = service, truth
        self.rng = np.random.default_rng([71, seed])
        self.sharpness = sharpness_of(truth, WRONG)
        self.joined = 0
        self.present = [self._join() for _ in range(AT_ONCE)]

    def answer(self) -> None:
        """One answer of everybody; who has answered all questions is followed by another."""
        asked = [(rater, self.service.questions(rater)) for rater in self.present]
        held = [(rater, found.result()["questions"][0]) for rater, found in asked]
        shown = np.array([[self.service.names.index(item) for item in one["shown"]] for _, one in held])
        said = sm.simulate(
            self.truth, form="triplet", questions=shown, sharpness=self.sharpness, random_state=self.rng
        ).answers.response.matrix()
        given = [
            self.service.answer(Said(rater, one["number"], f"answer-{rater}-{one['number']}", "answered", list(code)))
            for (rater, one), code in zip(held, said, strict=True)
        ]
        done = [future.result()["done"] for future in given]
        self.present = [self._join() if over else rater for rater, over in zip(self.present, done, strict=True)]

    def _join(self) -> int:
        self.joined += 1
        rater = self.service.rater_of(self.service.join(Joining(f"browser-{self.joined:06d}")).result())
        self.service.consent(rater).result()
        return rater


def write_study(folder: Path, strategy: str) -> None:
    folder.mkdir()
    rows = "\n".join(f"item {k:02d}" for k in range(ITEMS))
    (folder / "items.csv").write_text(f"name\n{rows}\n", encoding="utf-8")
    (folder / "study.toml").write_text(
        f'title = "Simulated"\n[items]\ntable = "items.csv"\n[question]\nnumber = {LENGTH}\n'
        f'[choose]\nstrategy = "{strategy}"\n',
        encoding="utf-8",
    )
    for page in ("consent", "instructions"):
        (folder / f"{page}.md").write_text("Simulated.", encoding="utf-8")


def run(arm: int, seed: int) -> list[dict]:
    strategy = STRATEGIES[arm]
    truth = np.random.default_rng([90_010, seed]).normal(size=(ITEMS, 2))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "simulated"
        write_study(folder, strategy)
        site = open_site(folder)
        try:
            return follow(next(iter(site.studies.values())), truth, strategy, seed)
        finally:
            site.close()


def follow(service: StudyService, truth: np.ndarray, strategy: str, seed: int) -> list[dict]:
    """Run a study to its end: the error after every hundred answers."""
    worker = StudyWorker(service.study, service.names, service.database, "one")
    test = sm.simulate(truth, 10_000, names=service.names, random_state=seed)
    people, rows, last = People(service, truth, seed), [], None
    for answers in range(AT_ONCE, MOST[strategy] + 1, AT_ONCE):
        people.answer()
        worker.step()
        if answers % EVERY == 0:
            with service.database.read() as connection:
                log, *_ = read_log(connection, service.study_id, service.names, most=answers + 1)
            last = best_fit(sm.STE(2, random_state=0), comparisons_of(log, service.names), last)
            error, likelihood = error_of(last.similarity_, test)
            chosen = float(np.isin(log.strategy.values, ["information_gain"]).mean())
            rows.append(
                {"strategy": strategy, "repeat": seed, "answers": answers, "error": error, "likelihood": likelihood,
                 "chosen": chosen}
            )  # fmt: skip
    return rows


def page(table: pd.DataFrame) -> str:
    need = answers_needed(table, TARGET).set_index("strategy")
    curve = summarised(table).pivot(index="answers", columns="strategy", values="error")
    chosen = table[table.strategy == "information_gain"].groupby("repeat").chosen.last().mean()
    share, high = need.loc["information_gain", ["share", "high"]]
    return f"""# Choosing questions in a study as it is served

`python -m reproduce.study`. {table.repeat.nunique()} seeds; intervals are 95% over seeds. {ITEMS} items in two
dimensions, {WRONG:.0%} of the answers to random questions wrong, {AT_ONCE} raters at a time, {LENGTH} questions each,
through the service and its database, the model process between them, all settings as they are by default. Of the
adaptive study's questions {chosen:.0%} were chosen; the others are the random share, repeats, and the random questions
asked before there is a model.

| study | answers to {TARGET:.0%} error | seeds that got there | share (95% interval) |
|---|---|---|---|
{_rows_of_need(need)}

| answers | random | information_gain |
|---|---|---|
{_rows_of_curve(curve)}

- **The adaptive study needs fewer answers than the random one: {verdict(high < 1)}** ({share:.2f}).
- **It needs at most two thirds of them: {verdict(share <= 2 / 3)}.**
- The replay without a server (`active.md`), with a fit after every 60 answers and 10% random questions, needs 0.37 of
  random's answers. That part of this is due to the larger random share, the repeats and a pool that is a little dated
  is likely; how much to each was not measured.
"""


def _rows_of_need(need: pd.DataFrame) -> str:
    return "\n".join(
        f"| {name} | {row.answers:,.0f} | {row.reached:.0%} | {row.share:.2f}"
        + ("" if name == "random" else f" ({row.low:.2f} to {row.high:.2f})")
        + " |"
        for name, row in need.iterrows()
    )


def _rows_of_curve(curve: pd.DataFrame) -> str:
    shown = curve.loc[curve.index.isin(SHOWN), list(STRATEGIES)]
    cells = [["" if np.isnan(error) else f"{error:.3f}" for error in row] for row in shown.to_numpy()]
    return "\n".join(f"| {n:,} | {' | '.join(row)} |" for n, row in zip(shown.index, cells, strict=True))


def main() -> None:
    jobs = [(arm, seed) for seed in range(SEEDS) for arm in range(len(STRATEGIES))]
    table = kept_trials("study", run, jobs)
    Ledger(SEEDS, "95% over seeds", False, whose="ours").write("study", page(table))


if __name__ == "__main__":
    main()
