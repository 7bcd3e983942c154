"""Every form of question keeps what a form promises: a new one cannot escape."""

from dataclasses import dataclass, field
from itertools import combinations, permutations

import numpy as np
import pytest

import similitude as sm
from similitude.engine.choice_terms import set_losses, values_of
from similitude.feedback.columns import Rows
from similitude.feedback.forms import FORMS, PAGES, PIECES, derive, picking_forms
from similitude.feedback.simulation.mind import Mind, Truth
from similitude.study.web.pages import STATIC
from tests.toy.most_typical import MostTypical

TOY = MostTypical()
EVERY = [*FORMS.values(), *PIECES.values(), TOY]
ASKED = [form for form in EVERY if form.n_shown is not None or form.grid is not None or form.page is not None]
PICKING = [*picking_forms().values(), TOY]
ON_PAGES = [*PAGES.values(), TOY]
GRID = 3
N_ITEMS = 6


@dataclass(frozen=True)
class Settings:
    """What a study might decide."""

    grid_size: int = GRID
    pick: int = 2
    scale: int = 5
    low: str = "the least"
    high: str = "the most"
    classes: tuple[str, ...] = field(default=("x", "y", "z"))


def by_name(form):
    return form.name


def said_by_a_mind(form, rng, n=40, sharpness=2.0):
    """Questions of a form, and what simulated raters say to them."""
    truth = Truth(N_ITEMS, positions=rng.normal(size=(N_ITEMS, 2)))
    shown = form.draw(N_ITEMS, n, GRID, rng)
    settings = Settings()
    one = np.full(n, sharpness), np.zeros(n)
    mind = Mind(truth, *one, 0.0, settings.pick, settings.scale, rng, settings.classes)
    return shown, form.answer(mind, shown)


def unordered(near, far):
    return sorted((sorted(one), sorted(other)) for one, other in zip(near.tolist(), far.tolist(), strict=True))


@pytest.mark.parametrize("form", EVERY, ids=by_name)
def test_it_says_what_it_is(form):
    assert form.name == form.name.lower().replace(" ", "_")
    assert form.words
    assert form.shows
    assert form.says
    assert FORMS.get(form.name, PIECES.get(form.name, TOY)) is form


@pytest.mark.parametrize("form", ASKED, ids=by_name)
def test_the_same_question_is_the_same_row_in_any_order_that_asks_the_same(form):
    rng, width = np.random.default_rng(0), form.width(N_ITEMS, GRID)
    shown = form.draw(N_ITEMS, 30, GRID, rng)
    turned = np.array([row[form.arrangement.shuffled(width, rng.permutation)] for row in shown])
    np.testing.assert_array_equal(form.arrangement.canonical(turned), form.arrangement.canonical(shown))
    assert (np.sort(turned, axis=1) == np.sort(shown, axis=1)).all()


@pytest.mark.parametrize("form", ASKED, ids=by_name)
def test_every_question_is_listed_once_and_counted(form):
    width = form.width(N_ITEMS, GRID)
    listed = np.array(list(form.arrangement.every(range(N_ITEMS), width)))
    every = np.array(list(permutations(range(N_ITEMS), width)))
    different = {tuple(row) for row in form.arrangement.canonical(every).tolist()}
    assert {tuple(row) for row in form.arrangement.canonical(listed).tolist()} == different
    assert len(listed) == len(different) == form.arrangement.number(width, N_ITEMS)


@pytest.mark.parametrize("form", ASKED, ids=by_name)
def test_a_response_means_the_same_wherever_the_items_stand(form):
    rng = np.random.default_rng(1)
    shown, (response, side, _) = said_by_a_mind(form, rng)
    for items, said, place in zip(shown, response.astype(float), side, strict=True):
        names, order = [f"i{k}" for k in items], form.arrangement.shuffled(len(items), rng.permutation)
        moved = form.rearranged(said.tolist(), names, [names[k] for k in order])
        assert form.same_response(form.rearranged(moved, [names[k] for k in order], names), said.tolist())
        assert form.side_of(said.tolist()) == place
        if form.name not in PIECES:
            before = form.comparisons(items[None], said[None])
            after = form.comparisons(items[order][None], np.array([moved]))
            assert unordered(*before[:2]) == unordered(*after[:2])


@pytest.mark.parametrize("form", ON_PAGES, ids=by_name)
def test_a_page_takes_what_simulated_raters_say_and_nothing_else(form):
    settings = Settings()
    form.check_setup(settings)
    _, (response, _, _) = said_by_a_mind(form, np.random.default_rng(2))
    for said in response.tolist():
        assert form.check_response(said, settings) == [float(value) for value in said]
        between = [] if form.name == "placement" else [[said[0] + 0.5, *said[1:]]]  # a place is any number
        for wrong in ([], [*said, said[0]], [99.0, *said[1:]], [float("nan"), *said[1:]], *between):
            with pytest.raises(ValueError, match="response: expected"):
                form.check_response(wrong, settings)


class Watched:
    """Settings that remember what was looked at."""

    def __init__(self):
        self.seen = set()

    def __getattr__(self, name):
        self.seen.add(name)
        return getattr(Settings(), name)


@pytest.mark.parametrize("form", ON_PAGES, ids=by_name)
def test_it_looks_at_no_settings_but_those_that_it_names(form):
    watched = Watched()
    form.check_setup(watched)
    form.ask_as(watched)
    response, *_ = said_by_a_mind(form, np.random.default_rng(2), n=3)[1]
    for said in response.astype(float):
        form.check_response(said.tolist(), watched)
    (watched.seen.add if form.n_shown is None else watched.seen.discard)("grid_size")  # where it decides the width
    assert watched.seen <= {*form.settings, *form.shows_also}
    assert {*form.settings, *form.shows_also, *form.unused_settings()} == set(Settings.__dataclass_fields__)


@pytest.mark.parametrize("form", ON_PAGES, ids=by_name)
def test_a_page_has_a_script_and_asks_something(form):
    script = form.script or STATIC / "forms" / f"{form.page}.js"
    assert "export default function" in script.read_text(encoding="utf-8")
    assert form.ask_as(Settings()) in form.asks
    assert form.ask_as(Settings(pick=1)) in form.asks
    assert all(form.asks.values())
    assert set(form.settings) <= set(Settings.__dataclass_fields__)


@pytest.mark.parametrize("form", PICKING, ids=by_name)
def test_what_is_at_stake_is_what_answers_may_say(form):
    shown = np.arange(form.width(N_ITEMS, GRID))[None]
    near, far = form.at_stake(shown)
    stake = {frozenset(map(frozenset, two)) for two in zip(near.tolist(), far.tolist(), strict=True)}
    assert len(stake) == len(near)
    picks = 2 if form.name == "best_worst" else 1
    responses = permutations(form.codes(shown.shape[1]), picks)
    edges = [form.comparisons(shown, np.array([response])) for response in responses]
    said = [two for edge in edges for two in zip(edge[0].tolist(), edge[1].tolist(), strict=True)]
    may = {frozenset(map(frozenset, two)) for two in said}
    assert stake == may


@pytest.mark.parametrize("form", PICKING, ids=by_name)
def test_the_pairs_that_speak_for_an_alternative_decide_a_clear_answer(form):
    rng = np.random.default_rng(3)
    truth = Truth(N_ITEMS, positions=rng.normal(size=(N_ITEMS, 2)))
    shown = form.draw(N_ITEMS, 50, GRID, rng)
    mind = Mind(truth, np.full(50, np.inf), np.zeros(50), 0.0, 1, None, rng)
    first = form.answer(mind, shown)[0][:, 0] - form.codes(shown.shape[1])[0]
    np.testing.assert_array_equal(first, form.value(truth, shown).argmax(axis=1))


@pytest.mark.parametrize("form", [form for form in EVERY if form.is_simulated and form.name not in PIECES], ids=by_name)
def test_the_number_of_comparisons_is_known(form):
    shown, (response, _, _) = said_by_a_mind(form, np.random.default_rng(4), n=5)
    answer = form.comparisons(shown, response)[2]
    expected = np.bincount(answer, minlength=5)
    np.testing.assert_array_equal(form.count(Rows.uniform(shown), Rows.uniform(response)), expected)


@pytest.mark.parametrize("form", [form for form in PICKING if form.has_own_chances], ids=by_name)
def test_the_chances_of_all_answers_to_a_question_add_up_to_one(form):
    shown = np.arange(form.width(N_ITEMS, GRID))[None]
    level = np.random.default_rng(6).normal(size=(N_ITEMS, N_ITEMS))
    level += level.T
    for count in (2,) if form.name == "best_worst" else (1, 2) if form.grid else (1,):
        order = permutations if form.name in ("ranking", "best_worst") else combinations
        total = 0.0
        for said in order(form.codes(shown.shape[1]), count):
            parts = form.chosen(shown, np.array([said]))
            losses = [set_losses(values_of(one, level[tuple(one.pairs.T)].T), one.picked)[0] for one in parts]
            total += float(np.exp(-sum(losses))[0])
        assert total == pytest.approx(1.0)


@pytest.mark.parametrize("form", [form for form in PICKING if not form.has_own_chances], ids=by_name)
def test_a_choice_of_two_is_its_comparison(form):
    shown, (response, _, _) = said_by_a_mind(form, np.random.default_rng(7))
    near, far, row = form.comparisons(shown, response)
    (one,) = form.chosen(shown, response)
    np.testing.assert_array_equal(one.pairs[:, :, 0], np.stack([near, far], axis=1))
    np.testing.assert_array_equal(one.row, row)


@pytest.mark.parametrize("piece", PIECES.values(), ids=by_name)
def test_a_piece_is_part_of_a_sheet(piece):
    assert piece.sheet is FORMS[piece.sheet.name]
    shown, (response, _, _) = said_by_a_mind(piece, np.random.default_rng(5), n=60, sharpness=0.1)
    _, once = np.unique(np.sort(shown, axis=1), axis=0, return_index=True)
    pieces = sm.Answers.of(piece.name, Rows.uniform(shown[once]), Rows.uniform(response[once].astype(float)))
    gathered = sm.Comparisons.from_answers(pieces, n_items=N_ITEMS)
    assert gathered.n_answers == 1
    assert gathered.answers.form.labels == (piece.sheet.name,)
    assert 0 < len(gathered) == len(derive(gathered.answers)[0])
