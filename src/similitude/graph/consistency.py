"""Can these answers be trusted? One report on the similarity graph of the feedback.

>>> import numpy as np, similitude as sm
>>> truth = np.random.default_rng(0).standard_normal((12, 2))
>>> answers = sm.simulate(truth, 3000, sharpness=3, raters=10, random_state=0)
>>> report = sm.check(answers)
>>> report.ceiling.low < report.ceiling.value < report.ceiling.high
True
>>> report.raters.flagged.any()
np.False_
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from similitude.display.estimate import Estimate
from similitude.display.figures import FigureTable, named
from similitude.display.words import number
from similitude.feedback.comparisons import Comparisons
from similitude.feedback.convert import ComparisonsLike, as_comparisons
from similitude.feedback.shards import Shards
from similitude.graph.acyclic import cycle_loss, ordered_edges
from similitude.graph.answer_repeats import AnswerRepeats, answer_ceiling, answer_repeats
from similitude.graph.build import build_graph
from similitude.graph.circles import Cycles, count_cycles, judgments, majorities, redundancy
from similitude.graph.coefficients import Coefficients, coefficients
from similitude.graph.conditions import AnswersUnder, answers_under
from similitude.graph.passes import PassReport, check_shards
from similitude.graph.reliability import RaterTable, rate_raters, raters_by_name
from similitude.graph.repeats import (
    NO_NOISE,
    Repeats,
    Voices,
    answer_voices,
    noise_ceiling,
    of_one_rater,
    repeat_agreement,
)
from similitude.graph.verdicts import CONTRARY, ENOUGH, MIND, RANDOM, SEEMS, UNTOLD
from similitude.graph.votes import Votes, count_votes
from similitude.settings import check_share
from similitude.types import ItemRows

if TYPE_CHECKING:
    import pandas as pd

_CLOSE_TO_CHANCE = 0.6


@dataclass(frozen=True, eq=False, repr=False)
class ConsistencyReport(FigureTable):
    """What `check` finds. Prints as a table; figures are attributes, `to_frame` and `to_dict` give them all.

    Attributes
    ----------
    answers, comparisons, items : how many; "can't tell" is an answer that gives no comparison
    cant_tell : share of "can't tell"
    repeats : questions answered more than once and how often two answers agree
    retest : the same, among answers of one and the same rater
    ceiling : the noise ceiling: what share of these answers the best model can predict
    contradicted : number of questions with answers on both sides
    outvoted : weight of the answers on the losing sides
    cycles, majority_cycles : circles among all comparisons, and among the majorities
    loss : (lower, upper) bounds of the weight of comparisons that must be given up so that no two contradict
    total_weight : weight of all comparisons
    redundancy : share of the majority judgments, made free of circles, that follow from others
    groups : names of items, in groups that no comparison links, the largest first
    never_compared : names of the items in no comparison
    raters : each rater's agreement with the others and with themselves, and what is to be made of it
    coefficients : Krippendorff's alpha, split-half and test-retest reliability, as reviewers ask for them
    cleaned : whether contradictions were taken out before, so that nothing here tells how noisy the answers were
    answer_repeats : questions answered more than once and how often two answers are the same as a whole, one choice
        among three for an odd one out; None where answers are plain comparisons
    answer_ceiling : what share of whole answers the best model can predict; None where answers are plain comparisons
    conditions : the same figures of each condition and block, where columns of these names tell some

    Examples
    --------
    >>> import numpy as np, similitude as sm
    >>> truth = np.random.default_rng(0).normal(size=(12, 2))
    >>> report = sm.check(sm.simulate(truth, 2000, sharpness=3.0, raters=5, random_state=0))
    >>> report.answers, report.items, report.ceiling.value > 0.8
    (2000, 12, True)
    >>> report.to_frame().shape[0] == len(list(report.figures())), report.rater_frame().shape[0]
    (True, 5)
    """

    answers: int
    comparisons: int
    items: int
    cant_tell: float
    repeats: Repeats
    retest: Repeats
    ceiling: Estimate
    contradicted: int
    outvoted: float
    cycles: Cycles
    majority_cycles: Cycles
    loss: tuple[float, float]
    total_weight: float
    redundancy: Estimate
    groups: tuple[tuple[str, ...], ...]
    never_compared: tuple[str, ...]
    raters: RaterTable
    coefficients: Coefficients
    cleaned: bool = False
    answer_repeats: AnswerRepeats | None = None
    answer_ceiling: Estimate | None = None
    conditions: tuple[AnswersUnder, ...] = ()

    def rater_frame(self) -> pd.DataFrame:
        """Return a table with one row per rater, those who agree least with the others first."""
        return self.raters.to_frame()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, texts and lists, fit for JSON; None where nothing can be told."""
        plain = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "raters"}
        nested = ("repeats", "retest", "ceiling", "cycles", "majority_cycles", "redundancy", "coefficients")
        plain |= {name: asdict(plain[name]) for name in nested}
        of_answers = ("answer_repeats", "answer_ceiling")
        plain |= {name: asdict(plain[name]) for name in of_answers if plain[name] is not None}
        plain["conditions"] = [asdict(one) for one in self.conditions]
        plain |= {"loss": list(self.loss), "groups": [list(group) for group in self.groups]}
        return plain | {"never_compared": list(self.never_compared), "raters": self.raters.to_list()}

    def doubts(self) -> list[str]:
        """Return what is worth a look, a sentence each; none where nothing stands out."""
        found = ["the answers were cleaned: no figure here tells how noisy people are"] if self.cleaned else []
        found += self.raters.doubts()
        if self.ceiling.high is not None and self.ceiling.high < _CLOSE_TO_CHANCE:
            found.append(f"the answers are close to chance: the noise ceiling is {self.ceiling}")
        if len(self.groups) > 1:
            found.append(f"{len(self.groups)} groups of items that no comparison links: their places are arbitrary")
        if self.never_compared:
            found.append(named("items never compared", self.never_compared))
        return found

    def figures(self) -> Iterator[tuple[str, Estimate]]:
        """Yield each figure with its name, in the order of the table."""
        yield "answers", Estimate(self.answers)
        yield '"can\'t tell"', Estimate(self.cant_tell, note="share of the answers")
        yield "comparisons", Estimate(self.comparisons, note="what the answers say")
        missing = named("never compared", self.never_compared) if self.never_compared else ""
        yield "items", Estimate(self.items, note=missing)
        yield "groups of items", Estimate(len(self.groups), note=self._unlinked())
        yield from self._noise()
        yield from self._contradictions()
        yield from self._people()
        yield from (one.figure() for one in self.conditions)

    def _noise(self) -> Iterator[tuple[str, Estimate]]:
        yield self.repeats.asked_again()
        yield "two answers agree", self.repeats.told("a comparison that both make")
        if self.retest.questions:
            yield (
                "the same rater agrees",
                self.retest.told("a comparison that they make again, the question being the same"),
            )
        if self.answer_repeats is None or self.answer_ceiling is None:
            yield "noise ceiling", self.ceiling
        else:
            of_comparisons = "no model that does not know who answers can predict more of these comparisons"
            yield (
                "noise ceiling",
                self.ceiling if self.ceiling.value is None else replace(self.ceiling, note=of_comparisons),
            )
            yield "two whole answers agree", self.answer_repeats.told()
            yield "noise ceiling of answers", self.answer_ceiling
        yield from self.coefficients.figures()

    def _contradictions(self) -> Iterator[tuple[str, Estimate]]:
        lower, upper = self.loss
        share = f"of {number(self.total_weight)}"
        yield "contradicted questions", Estimate(self.contradicted, note="with answers on both sides")
        yield "minority votes", Estimate(self.outvoted, note=f"{share}, on the losing sides")
        yield "circles", Estimate(self.cycles.groups, note=_circle(self.cycles))
        yield "circles of majorities", Estimate(self.majority_cycles.groups, note=_circle(self.majority_cycles))
        yield (
            "conflicting comparisons",
            Estimate(upper, lower, upper, f"{share}: the fewest to drop so that nothing contradicts lie between these"),
        )
        yield "redundancy", self.redundancy

    def _people(self) -> Iterator[tuple[str, Estimate]]:
        if not len(self.raters):
            yield "raters", Estimate(None, note="not recorded: who answers at random cannot be told")
            return
        known = self.raters.agreement[self.raters.statements >= ENOUGH]
        yield "raters", Estimate(len(self.raters), note=f"{len(known):,} said enough to be measured against others")
        if not len(known):
            note = "no rater shares enough questions with others" if len(self.raters) > 1 else "there is no other rater"
            yield "typical agreement", Estimate(None, note=note)
            return
        low, middle, high = np.quantile(known, [0.1, 0.5, 0.9]).tolist()
        yield "typical agreement", Estimate(middle, low, high, "with the others; four of five raters lie between")
        yield from self._verdicts()

    def _verdicts(self) -> Iterator[tuple[str, Estimate]]:
        own = self.raters.self_consistency[self.raters.judged & np.isfinite(self.raters.self_consistency)]
        if len(own):
            low, middle, high = np.quantile(own, [0.1, 0.5, 0.9]).tolist()
            yield (
                "self-consistency",
                Estimate(middle, low, high, "answers that the same rater's answers to other questions imply"),
            )
        raters = self.raters
        lost = "agree with the others hardly more than by chance, and not with their own other answers either"
        kinds = [  # the same as in `RaterTable.doubts`, and in the note on each rater
            ("answer at random", lost, raters.who(RANDOM)),
            (
                "see things differently",
                "disagree with the others, but their own answers hang together",
                raters.differing(MIND),
            ),
            (
                "seem to see things differently",
                "disagree with the others; that their own answers hang together is not beyond doubt",
                raters.differing(SEEMS),
            ),
            ("say the contrary", "was the question read the wrong way round?", raters.differing(CONTRARY)),
            ("cannot be told", "disagree with the others; whether at random cannot be told", raters.who(UNTOLD)),
        ]
        for name, text, who in kinds:
            yield name, Estimate(len(who), note=named(text, who))

    def _unlinked(self) -> str:
        if len(self.groups) < 2:
            return "every item compared is linked with every other"
        return f"no comparison links them; {named('smallest', self.groups[-1])}"


@overload
def check(comparisons: Comparisons | ItemRows, level: float = 0.95) -> ConsistencyReport: ...
@overload
def check(comparisons: Shards, level: float = 0.95) -> PassReport: ...
def check(comparisons: ComparisonsLike, level: float = 0.95) -> ConsistencyReport | PassReport:
    """Say how far feedback can be trusted.

    Parameters
    ----------
    comparisons : `Comparisons`, or an array of rows `(i, j, k)` or `(i, j, k, l)`; or a `ComparisonDataset`, of which
        passes with bounded memory tell as much as they can (a `PassReport`)
    level : of the intervals

    Returns
    -------
    ConsistencyReport
        Repeats and the noise ceiling, contradictions, circles, redundancy, links among items, raters. What the
        answers do not allow to estimate is None, with the reason.

    Examples
    --------
    >>> import similitude as sm
    >>> report = sm.check(sm.Comparisons.from_triplets([(0, 1, 2), (0, 1, 2), (0, 2, 1), (1, 0, 2)]))
    >>> report.repeats.questions, report.contradicted, report.outvoted
    (1, 1, 1.0)
    """
    check_share("level", level)
    if isinstance(comparisons, Shards):
        return check_shards(comparisons, level)
    c = as_comparisons(comparisons)
    _refuse_empty(c)
    votes = count_votes(c)
    voices = answer_voices(c, votes)
    repeats = repeat_agreement(voices, level)
    retest = repeat_agreement(of_one_rater(voices, c.answers.rater.codes), level)
    groups, never = _groups(c)
    every, majority = judgments(votes), majorities(votes)
    again = answer_repeats(c, level)
    # Every order loses the lesser side of a contradicted question, and then what it loses of the majorities.
    outvoted = float(np.minimum(votes.forward, votes.backward).sum())
    kept = ordered_edges(len(votes.pairs), *majority)
    lower, upper = cycle_loss(len(votes.pairs), *majority, kept)
    return ConsistencyReport(
        answers=c.n_answers,
        comparisons=len(c),
        items=c.n_items,
        cant_tell=float(c.answers.cant_tell.mean()),
        repeats=repeats,
        retest=retest,
        ceiling=NO_NOISE if c.cleaned else noise_ceiling(repeats),
        cleaned=c.cleaned,
        coefficients=_coefficients(c, voices, votes, retest, level),
        contradicted=int(votes.contradicted.sum()),
        outvoted=outvoted,
        cycles=count_cycles(len(votes.pairs), every),
        majority_cycles=count_cycles(len(votes.pairs), majority),
        loss=(outvoted + lower, outvoted + upper),
        total_weight=float(votes.forward.sum() + votes.backward.sum()),
        redundancy=redundancy(len(votes.pairs), majority, kept),
        groups=groups,
        never_compared=never,
        raters=rate_raters(c.answers, voices, votes, level),
        answer_repeats=again,
        answer_ceiling=_answer_ceiling(c, again),
        conditions=answers_under(c, level),
    )


def _answer_ceiling(c: Comparisons, again: AnswerRepeats | None) -> Estimate | None:
    return None if again is None else NO_NOISE if c.cleaned else answer_ceiling(again)


def _coefficients(c: Comparisons, voices: Voices, votes: Votes, retest: Repeats, level: float) -> Coefficients:
    if c.cleaned:
        return Coefficients.untold(NO_NOISE.note)
    return coefficients(voices, raters_by_name(c.answers)[1], votes, retest, level)


def ceiling_of(
    comparisons: Comparisons, level: float = 0.95, of: Literal["comparisons", "answers"] = "comparisons"
) -> Estimate:
    """Return the noise ceiling alone, as `check` finds it; of answers, where these are more than comparisons."""
    if comparisons.cleaned:
        return NO_NOISE
    again = answer_repeats(comparisons, level) if of == "answers" else None
    if again is not None:
        return answer_ceiling(again)
    return noise_ceiling(repeat_agreement(answer_voices(comparisons, count_votes(comparisons)), level))


def _refuse_empty(c: Comparisons) -> None:
    if not c.n_answers:
        raise ValueError("comparisons: there are no answers to check")
    if not len(c):
        raise ValueError(f'comparisons: none of the {c.n_answers} answers compares anything (all are "can\'t tell")')
    if not (c.weight > 0).any():
        raise ValueError("comparisons: all weights are 0, so there is nothing to check")


def _groups(c: Comparisons) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """Return the names of linked items, group by group, and of the items never compared."""
    component = build_graph(c).components
    linked = np.flatnonzero(component >= 0)
    linked = linked[np.argsort(component[linked], kind="stable")]
    members = np.split(linked, np.flatnonzero(np.diff(component[linked])) + 1)
    members.sort(key=lambda group: (-len(group), group[0]))
    label = [c.label(int(item)) for item in range(c.n_items)]
    never = tuple(label[item] for item in np.flatnonzero(component < 0))
    return tuple(tuple(label[item] for item in group) for group in members), never


def _circle(cycles: Cycles) -> str:
    """What a circle is, and how much is in some: a is more alike than b, b than c, and c than a."""
    if not cycles.groups:
        return "none"
    inside = f"{cycles.judgments:,} judgments about {cycles.pairs:,} pairs of items are in some"
    return f"knots of answers that cannot all be true (pair a before b, b before c, c before a); {inside}"
