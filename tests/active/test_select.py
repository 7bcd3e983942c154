"""The next questions: rounds, streams, forms, what is never asked, and what is said when nothing is left."""

import json

import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude.active.asked import Asked, codes_of
from similitude.active.select import Chooser
from similitude.active.strategies import STRATEGIES

N = 10
NAMES = [f"item{k}" for k in range(N)]
WIDTH = {"triplet": 3, "odd_one_out": 3, "choice": 5, "quadruplet": 4}


@pytest.fixture(scope="module")
def study():
    truth = np.random.default_rng(0).normal(size=(N, 2))
    answers = sm.simulate(truth, 80, sharpness=2.0, random_state=1)
    return sm.STE(2, random_state=0).fit(answers), answers


def array(table):
    return np.array(table.shown.tolist())


@pytest.mark.parametrize("strategy", ["random", "uncertainty", "information_gain", "ackl", "landmark"])
def test_a_round_asks_once_about_every_head_and_nothing_twice(study, strategy):
    model, answers = study
    table = sm.next_questions(model, N, strategy=strategy, asked=answers, random_share=0.0, random_state=3)
    shown = array(table)
    turns = np.bincount(answers.near[:, 0], minlength=N) + np.bincount(shown[:, 0], minlength=N)
    even = sm.next_questions(model, N, strategy=strategy, random_share=0.0, random_state=3)
    assert sorted(array(even)[:, 0]) == list(range(N))
    assert turns.max() - turns.min() <= max(1, np.ptp(np.bincount(answers.near[:, 0], minlength=N)))
    assert not Asked("triplet", 3, N, answers).contains(shown).any()
    assert len(np.unique(codes_of("triplet", shown, N))) == N
    assert set(table.strategy) == {strategy}


@pytest.mark.parametrize("form", WIDTH)
@pytest.mark.parametrize("strategy", ["random", "uncertainty", "information_gain", "ackl"])
@pytest.mark.parametrize("candidates", ["auto", "all", 7])
def test_every_form_by_every_strategy(study, form, strategy, candidates):
    if (form, strategy) == ("quadruplet", "ackl"):
        pytest.skip("a quadruplet has no head")
    model, answers = study
    table = sm.next_questions(
        model, 15, form=form, strategy=strategy, candidates=candidates, asked=answers, random_state=0
    )
    shown = array(table)
    assert shown.shape == (15, WIDTH[form])
    if form == "quadruplet":
        assert (shown[:, 0] != shown[:, 1]).all()
        assert (shown[:, 2] != shown[:, 3]).all()
    else:
        assert all(len(set(row)) == len(row) for row in shown.tolist())
    assert len(np.unique(codes_of(form, shown, N))) == 15
    assert set(table.form) == {form}


def test_grid_is_another_word_for_choice(study):
    table = sm.next_questions(study[0], 3, form="grid", grid_size=6, asked=study[1], random_state=0)
    assert set(table.form) == {"choice"}
    assert array(table).shape == (3, 7)


def test_one_at_a_time_no_head_starves(study):
    model, _ = study
    chooser = Chooser(model, random_share=0.0, random_state=0)
    heads = [int(chooser.choose(1)[0][0, 0]) for _ in range(3 * N)]
    for k in range(3):
        assert sorted(heads[k * N : (k + 1) * N]) == list(range(N))


def test_the_head_that_was_asked_least_is_next(study):
    model, answers = study
    few = answers.select(np.flatnonzero(answers.near[:, 0] != 4))
    assert array(sm.next_questions(model, 1, asked=few, random_share=0.0, random_state=0))[0, 0] == 4


def test_an_item_that_is_behind_is_asked_about_often_but_not_again_and_again(study):
    model, answers = study
    few = answers.select(np.flatnonzero(answers.near[:, 0] != 4))
    heads = array(sm.next_questions(model, 9, asked=few, random_share=0.0, random_state=0))[:, 0].tolist()
    assert [k for k, head in enumerate(heads) if head == 4] == [0, 4, 8]


def test_the_odd_one_out_was_asked_about_as_well():
    truth = np.random.default_rng(0).normal(size=(12, 2))
    truth[7] = 20.0  # always odd
    answers = sm.simulate(truth, 1200, "odd_one_out", random_state=0)
    model = sm.STE(2, random_state=0).fit(answers)
    heads = array(sm.next_questions(model, 24, asked=answers, random_share=0.0, random_state=0))[:, 0]
    assert (heads == 7).sum() <= 6  # a quarter is the most that may be about one item


def test_pending_questions_are_not_asked_again(study):
    model, answers = study
    first = sm.next_questions(model, 20, asked=answers, random_state=0)
    second = sm.next_questions(model, 20, asked=answers, pending=first, random_state=0)
    codes = [codes_of("triplet", array(table), N) for table in (first, second)]
    assert not np.isin(codes[1], codes[0]).any()


def test_nothing_pending_is_nothing_to_remember(study):
    table = sm.next_questions(study[0], 2, form="quadruplet", asked=study[1], pending=[], random_state=0)
    assert array(table).shape == (2, 4)


def test_a_question_that_nobody_could_tell_was_asked(study):
    model, answers = study
    table = sm.next_questions(model, 30, asked=answers, random_state=0)
    unsure = sm.read_comparisons(table.assign(response=[[]] * 30), n_items=N)
    assert len(unsure) == 0
    again = sm.next_questions(model, 30, asked=sm.Comparisons.concatenate([answers, unsure]), random_state=0)
    assert not np.isin(codes_of("triplet", array(again), N), codes_of("triplet", array(table), N)).any()


def test_a_share_is_random_and_says_so(study):
    table = sm.next_questions(study[0], 40, asked=study[1], random_share=0.25, random_state=0)
    assert (table.strategy == "random").sum() == 10
    assert table.score[table.strategy == "random"].isna().all()
    assert (table.score[table.strategy != "random"] > 0).all()
    drawn = [
        sm.next_questions(study[0], 1, asked=study[1], random_share=0.5, random_state=seed).strategy[0]
        for seed in range(40)
    ]
    assert 6 < drawn.count("random") < 34  # of halves it is one draw in 100,000 that has fewer or more


def test_the_same_seed_gives_the_same_questions(study):
    model, answers = study
    one, two = (sm.next_questions(model, 12, asked=answers, random_state=5) for _ in range(2))
    assert one.equals(two)


def test_which_side_an_item_stands_on_is_chance(study):
    model, answers = study
    shown = array(sm.next_questions(model, 60, asked=answers, candidates="all", random_state=0))
    assert 15 < (shown[:, 1] < shown[:, 2]).sum() < 45


def test_only_the_pool_is_asked(study):
    model, answers = study
    pool = sm.random_questions(N, 30, random_state=9)
    shown = array(sm.next_questions(model, 12, asked=answers, pool=pool, random_share=0.2, random_state=0))
    assert np.isin(codes_of("triplet", shown, N), codes_of("triplet", pool, N)).all()


def test_within_the_pool_the_best_is_taken(study):
    model, answers = study
    pool = sm.random_questions(N, 60, random_state=9)
    whole = sm.next_questions(model, 1, asked=answers, pool=pool, candidates="all", random_share=0, random_state=0)
    head = whole.shown[0][0]
    from similitude.active.posterior import Posterior
    from similitude.active.scores import InformationGain

    rows = pool[(pool[:, 0] == head) & ~Asked("triplet", 3, N, answers).contains(pool)]
    scores = InformationGain(Posterior.of(model.similarity_, answers)).of(rows[:, :2], rows[:, [0, 2]])
    assert whole.score[0] == pytest.approx(scores.max())


def test_names_in_names_out_and_answers_read_back(tmp_path):
    truth = np.random.default_rng(0).normal(size=(N, 2))
    answers = sm.simulate(truth, 80, sharpness=2.0, names=NAMES, random_state=1)
    model = sm.CKL(2, random_state=0).fit(answers)
    table = sm.next_questions(model.similarity_, 8, asked=answers, random_state=0)
    assert set(np.ravel(table.shown.tolist())) <= set(NAMES)
    said = sm.read_comparisons(table.assign(response=[[1]] * 8), names=NAMES)
    assert said.answers.strategy.values.tolist() == table.strategy.tolist()
    assert [[NAMES[k] for k in row] for row in said.triplets.tolist()] == table.shown.tolist()
    written = table.assign(shown=table.shown.map(json.dumps), response="[2]")
    assert len(sm.read_comparisons(pd.DataFrame(written), names=NAMES)) == 8
    table.assign(response=1).to_csv(tmp_path / "as_pandas_writes_lists.csv", index=False)
    back = sm.read_comparisons(tmp_path / "as_pandas_writes_lists.csv", names=NAMES)
    assert back.triplets.tolist() == said.triplets.tolist()


def test_a_kernel_can_ask(study):
    model = sm.RCKL().fit(study[1])
    assert len(sm.next_questions(model, 5, asked=study[1], random_state=0)) == 5


def test_all_questions_asked(study):
    b, c = np.triu_indices(4, 1)
    rows = [(a, i, j) for a in range(4) for i, j in zip(b, c, strict=True) if a not in (i, j)]
    everything = sm.Comparisons.from_triplets(rows)
    model = sm.STE(2, random_state=0).fit(everything)
    with pytest.raises(ValueError, match=r"n: none could be found: .*12 of form triplet.*repeat=True"):
        sm.next_questions(model, 1, asked=everything)
    assert len(sm.next_questions(model, 3, asked=everything, repeat=True, random_state=0)) == 3
    with pytest.raises(ValueError, match="only 2 of the 5 questions wanted"):
        sm.next_questions(model, 5, asked=everything.select(np.arange(10)), random_share=0.0)


@pytest.mark.parametrize("strategy", sorted(set(STRATEGIES) - {"random", "landmark", "sequential"}))
def test_a_similarity_without_probabilities(study, strategy):
    model = sm.SOE(2, random_state=0).fit(study[1])
    with pytest.raises(ValueError, match=r"similarity: SOE gives no probability.*fit STE, TSTE, CKL"):
        sm.next_questions(model, 3, strategy=strategy, asked=study[1])
    assert len(sm.next_questions(model, 3, strategy="random", asked=study[1])) == 3


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"strategy": "magic"}, "strategy: 'magic' is unknown; the strategies are random"),
        ({"form": "essay"}, "form: expected one of triplet.*found 'essay'"),
        ({"candidates": 0}, "candidates: expected at least 1"),
        ({"candidates": "some"}, "candidates: expected a number, 'auto' or 'all'"),
        ({"pool": np.empty((0, 3), int)}, "pool: expected at least one question"),
        ({"pool": [[0, 1]]}, r"pool: expected rows of 3 items, found shape \(1, 2\)"),
        ({"pending": [[0, 1, 99]]}, "found index 99"),
        ({"random_share": 1.5}, "random_share: expected a share"),
        ({"form": "choice", "grid_size": 10}, "grid_size: expected 2 to 9"),
        ({"strategy": "ackl", "form": "quadruplet"}, "'ackl' is about the position of a head"),
        ({"strategy": "landmark", "form": "odd_one_out"}, "'landmark' walks through triplets"),
        ({"asked": [[0, 1, 77]]}, "item 77 is not among the 10 items"),
    ],
)
def test_bad_input_is_named(study, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        sm.next_questions(study[0], 3, **{"asked": study[1], **options})


def test_no_questions_cannot_be_asked_for(study):
    with pytest.raises(ValueError, match="n: expected a whole number of at least 1, found 0"):
        sm.next_questions(study[0], 0)


def test_wide_questions_are_told_apart_by_what_they_show():
    shown = np.array([[0, 1, 2, 3], [0, 3, 2, 1], [1, 0, 2, 3], [0, 1, 2, 4]])
    assert codes_of("choice", shown, 5)[0] == codes_of("choice", shown, 5)[1]
    assert len(np.unique(codes_of("choice", shown, 5))) == 3
    wide = np.tile(np.arange(20), (2, 1))
    wide[1, 19] = 20
    assert len(np.unique(codes_of("choice", wide, 10**6))) == 2
    pairs = np.array([[0, 1, 2, 3], [3, 2, 1, 0], [2, 3, 0, 1], [0, 2, 1, 3]])
    assert len(np.unique(codes_of("quadruplet", pairs, 5))) == 2


@pytest.mark.parametrize(("form", "options"), [("odd_one_out", {}), ("choice", {"grid_size": 6, "n_chosen": 2})])
@pytest.mark.parametrize("candidates", ["all", 40])
def test_the_score_is_what_the_whole_answer_tells(study, form, options, candidates):
    from similitude.active.posterior import Posterior
    from similitude.active.scores import InformationGain
    from similitude.feedback.forms import picking_forms
    from similitude.feedback.forms.alternatives import Alternatives

    model, answers = study
    table = sm.next_questions(
        model, 1, form=form, asked=answers, random_share=0.0, candidates=candidates, random_state=0, **options
    )
    scorer, one = InformationGain(Posterior.of(model.similarity_, answers)), picking_forms()[form]
    rng = np.random.default_rng(1)
    others = np.array([rng.permutation(N)[: len(table.shown[0])] for _ in range(200)], np.int32)

    def scores(shown):
        picked = options.get("n_chosen", 1)
        return scorer.of_choices(Alternatives(one.alternatives(shown), picked, np.arange(len(shown)), one.prefers))

    assert table.score[0] == pytest.approx(scores(array(table))[0], abs=1e-9)
    assert table.score[0] > np.quantile(scores(others), 0.1)  # of a hundred draws one was just below the median


def test_more_picks_than_the_grid_has_are_refused(study):
    with pytest.raises(ValueError, match="n_chosen: expected 1 to 3 picks from 4 items, found 4"):
        sm.next_questions(study[0], 1, form="choice", n_chosen=4, asked=study[1])


@pytest.mark.parametrize("form", ["triplet", "odd_one_out", "choice", "quadruplet", "ranking"])
def test_models_of_products_are_asked_in_every_form(form):
    truth = np.random.default_rng(0).normal(size=(N, 2))
    answers = sm.simulate(truth, 150, "odd_one_out", sharpness=2.0, random_state=1)
    model = sm.ChoiceEmbedding(6, random_state=0).fit(answers)
    table = sm.next_questions(model, 8, form=form, asked=answers, candidates="all", random_share=0.0, random_state=0)
    assert len(table) == 8
    assert (table.score > 0).all()
    with pytest.raises(ValueError, match="'ackl' is about distances"):
        sm.next_questions(model, 1, strategy="ackl", asked=answers)
