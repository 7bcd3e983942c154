"""Every result has a card for notebooks: well-formed, escaped, with the figures that its repr says."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import numpy as np
import pandas as pd
import pytest

import similitude as sm
from similitude.display.cards import card, element, grid, note, written
from similitude.display.estimate import Estimate
from similitude.display.words import counted, listed, shortened
from similitude.evaluate import uncertainty as uncertainty_module
from similitude.feedback.answers import Answers
from similitude.graph.reliability import RaterTable
from similitude.methods.explanation import Explanation
from tests import seeds

HOSTILE = '<script>alert(\'&"1")</script>'
NAMES = (HOSTILE, "a name that is far too long to be written on any map", "c\x01ow", "dog", "emu", "fox", "gnu")
VOID = {"br", "img", "input", "hr", "meta", "link"}


class Balanced(HTMLParser):
    """An HTML parser that minds tags that are not closed, or closed out of order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(value):
    """The text of a value's card, once it is known to be HTML and XML, without a script, and the tree of it."""
    html = value._repr_html_()
    tree = ET.fromstring(html)
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    assert "script" not in parser.tags
    assert not re.search(r"np\.\w+\(|\bnan\b", html + repr(value))
    return " ".join(" ".join(parser.text).split()), tree


def figures_of(text):
    """The numbers in a text, with their signs left out."""
    return set(re.findall(r"\d[\d,]*\.?\d*%?", text))


@pytest.fixture(scope="module")
def answers():
    with seeds.as_seeded():  # a card shows the first answers: they have the hostile name
        truth = np.random.default_rng(0).normal(size=(7, 2))
        return sm.simulate(truth, 240, sharpness=3.0, raters=4, names=NAMES, form="odd_one_out", random_state=1)


@pytest.fixture(scope="module")
def model(answers):
    return sm.STE(2, random_state=0).fit(answers)


def _eight_raters():
    truth = np.random.default_rng(0).normal(size=(7, 2))
    people = sm.Raters.of([3.0] * 8, names=[str(k) for k in range(1, 9)])
    return sm.simulate(truth, 160, raters=people, names=NAMES, random_state=1)


@pytest.fixture(scope="module")
def results(answers, model, tmp_path_factory):
    """One of every kind of result, by the name of its class."""
    folder = tmp_path_factory.mktemp("shards") / "answers"
    sm.write_comparisons(answers, folder)
    dataset = sm.ComparisonDataset(folder)
    pairs = [(NAMES[0], NAMES[1]), (NAMES[0], NAMES[2]), (NAMES[3], NAMES[4])]
    labels = sm.Labels.of(NAMES, ["<i>", "y", "y", "<i>", "y", "y", "y"], np.linspace(0.1, 1, 7))
    camel = sm.CAMEL(random_state=0).fit(pd.DataFrame(model.embedding_, columns=["<b>", "y"]), labels.value)
    ste = sm.STE(2, random_state=0)
    found = [
        answers,
        sm.understand(answers.to_frame()[["near_a", "near_b", "far_a", "far_b", "rater"]]),
        answers.answers,
        sm.Links.of(pairs, [True, False, True], names=NAMES, rater=HOSTILE),
        sm.Ratings.of(pairs, [1, 2, 4.5], larger="similar", names=NAMES, weight=[1, 2, 3]),
        labels,
        sm.Raters.of([1, 2.5], lapse=0.1, names=[HOSTILE, "b"]),
        dataset,
        sm.check(answers),
        sm.check(dataset),
        sm.check(answers).raters,
        model.similarity_,
        sm.uncertainty(model, answers, n=5, random_state=0),
        sm.more_answers(ste, answers, n_repeats=2, n_curves=20, random_state=0),
        sm.dimension(ste, answers, dimensions=(1, 2), n_folds=2, n_repeats=1, random_state=0),
        sm.dimension_reproducibility(
            sm.NonNegativeEmbedding(3, n_init=1, scale=1.0), answers, n_seeds=2, n_halves=1, random_state=0
        ),
        sm.compare(model, model.similarity_, answers, n_resamples=20, random_state=0),
        sm.compare(model, model.similarity_, answers, n_resamples=20, random_state=0).answers,
        sm.learn(answers.select(np.arange(25)), time_limit=0.5, random_state=0),
        sm.compare(model, model.similarity_, answers, n_resamples=20, random_state=0).people,
        sm.describe_dimensions(pd.DataFrame(np.abs(model.embedding_), index=NAMES), answers),
        camel.explain(model.embedding_[0]),
        sm.compare_groups(_eight_raters(), {f"{k}": k % 2 for k in range(1, 9)}, n_permutations=19),
    ]
    return {type(value).__name__: value for value in found}


KINDS = (
    sm.Comparisons, sm.Understood, Answers, sm.Links, sm.Ratings, sm.Labels, sm.Raters, sm.ComparisonDataset,
    sm.ConsistencyReport, sm.PassReport, RaterTable, sm.Similarity, sm.Uncertainty, sm.Forecast, sm.DimensionChoice,
    sm.Findings, sm.DescribedDimensions, Explanation,
)  # fmt: skip


@pytest.mark.parametrize(
    "kind", [*(kind.__name__ for kind in KINDS), "Agreement", "AnswerAgreement", "PeopleAgreement", "GroupDifference"]
)
def test_a_card_is_well_formed_and_says_what_repr_says(results, kind):
    text, _ = read(results[kind])
    assert figures_of(repr(results[kind])) <= figures_of(text)


@pytest.mark.parametrize("name", [name for name in sm.__all__ if name[0].isupper()])
def test_a_public_class_of_values_has_a_card(name):
    value = getattr(sm, name)
    no_result = {"AnswerFold", "ComparisonWriter", "ComparisonLoss"}  # how to split, write, count: one line says it
    if not issubclass(value, Warning) and not hasattr(value, "fit") and name not in no_result:
        assert "_repr_html_" in dir(value)


@pytest.mark.parametrize(
    "kind",
    [
        "Comparisons",
        "Understood",
        "Links",
        "Ratings",
        "Labels",
        "Similarity",
        "Uncertainty",
        "Findings",
        "DescribedDimensions",
    ],
)
def test_a_hostile_name_is_shown_and_not_run(results, kind):
    html = results[kind]._repr_html_()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_comparisons_say_who_was_asked_what(answers):
    text, tree = read(answers)
    assert "480 comparisons from 240 answers about 7 items by 4 raters" in text
    assert "odd one out 240 answers" in text
    assert len(tree.findall(".//tbody")[-1]) == 3
    assert "and 477 more comparisons" in text


def test_cleaning_is_told_of(answers):
    cleaned = sm.clean(answers)
    text, _ = read(cleaned)
    for step in cleaned.removed:
        assert f"cleaned {step.step} {step.why}" in text
        assert step.why in repr(step)


def test_comparisons_of_nothing_and_of_positions():
    bare = sm.Comparisons.from_triplets([(0, 1, 2), (2, 1, 0)], weight=[1.0, 2.0])
    text, _ = read(bare)
    assert "by position, 0 to 2" in text
    assert "raters unknown" in text
    assert "weights 1 to 2" in text
    empty, tree = read(bare[np.zeros(2, bool)])
    assert "0 comparisons from 0 answers about 3 items" in empty
    assert tree.find(".//thead") is None
    assert "answers" in read(bare.answers)[0]


def test_answers_that_cannot_tell_are_counted():
    unsure = sm.Comparisons.from_triplets([(0, 1, 2), (0, 2, 1), (1, 2, 0)], [True, None, None], time=[1.0, 2.0, 9.0])
    for value in (unsure, unsure.answers):
        text, _ = read(value)
        assert "2 could not tell" in text
        assert 'triplet 3 answers 2 of them "can\'t tell"' in text
    assert "time 2 s" in text


@pytest.mark.parametrize("value", [
    sm.Links.from_pairs(similar=[("a", "b")], dissimilar=[]),
    sm.Links.from_pairs(similar=[("a", "b")], dissimilar=[])[:0],
    sm.Ratings.of([("a", "b")], [3], larger="different"),
    sm.Labels.of([0], [2.5], kind="numeric"),
    sm.Labels.of([0, 1, 2], ["low", "mid", "high"], kind="ordinal"),
    sm.Labels.of(range(40), [f"class {k}" for k in range(40)]),
    sm.Raters.draw(30, random_state=0),
])  # fmt: skip
def test_small_and_large_feedback_of_other_kinds(value):
    text, _ = read(value)
    assert figures_of(repr(value)) <= figures_of(text)


def test_a_report_lists_its_doubts():
    apart = sm.Comparisons.from_triplets([(0, 1, 2), (3, 4, 5)], n_items=8)
    report = sm.check(apart)
    text, tree = read(report)
    assert "Worth a look" in text
    assert [point.text for point in tree.iter("li")] == report.doubts()
    assert len(report.doubts()) == 2
    assert "Nothing stands out" in read(sm.check(sm.Comparisons.from_triplets([(0, 1, 2)])))[0]


def test_a_doubt_names_people_and_items_in_full():
    long = "a participant whose identifier is long enough to be cut elsewhere"
    apart = sm.Comparisons.from_triplets([("a", "b", "c")], names=["a", "b", "c", long])
    assert long in read(sm.check(apart))[0]
    assert long not in read(apart)[0]


def test_raters_who_cannot_be_judged_are_unknown(answers):
    text, _ = read(sm.check(answers.select(np.arange(3))).raters)
    assert "unknown" in text


def test_the_table_of_a_forecast_and_of_dimensions_is_theirs(results):
    forecast, choice = results["Forecast"], results["DimensionChoice"]
    text, tree = read(forecast)
    assert len(tree.find(".//tbody")) == len(forecast.table)
    assert all(f"{value:.1%}" in text for value in forecast.table.accuracy)
    text, tree = read(choice)
    rows = [[cell.text for cell in row] for row in tree.find(".//tbody")]
    assert [row[0] for row in rows if row[-1] == "chosen"] == [str(choice.chosen)]


def test_uncertainty_names_the_least_sure_without_looking_at_all_pairs(results, monkeypatch):
    found = results["Uncertainty"]
    first = found.needs_answers.item[0]
    monkeypatch.setattr(uncertainty_module, "_nearest", None)
    _, tree = read(found)
    assert f"least sure: {first}" in repr(found)
    assert tree.find(".//tbody")[0][0].text == shortened(first).replace("\x01", "�")
    assert len(list(tree.iter("{http://www.w3.org/2000/svg}ellipse"))) == found.similarity.n_items


def test_a_figure_is_printed_with_its_interval_and_its_note():
    assert repr(Estimate(0.9, 0.871, 0.92, "of all")) == "<0.90 (0.87 to 0.92): of all>"
    assert repr(Estimate(None, note="nobody was asked twice")) == "<unknown: nobody was asked twice>"
    assert str(Estimate(1200)) == "1,200"


def test_what_writes_says_how_much(tmp_path):
    with sm.ComparisonWriter(tmp_path / "answers") as writer:
        writer.write([(0, 1, 2)])
        assert repr(writer) == "<writes comparisons to answers: 1 so far>"


def test_an_agreement_with_gaps_says_unknown(model):
    table = model.similarity_.distances()
    table[0, 1] = table[1, 0] = np.nan
    found = sm.compare(model.similarity_, pd.DataFrame(table, NAMES, NAMES), n_resamples=20, random_state=0)
    assert "unknown" in read(found)[0]


def test_parts_are_escaped_and_kept_in_order():
    made = element("p", "a<b", element("b", "bold"), " & ", "end", title='"')
    assert written(made) == '<p title="&quot;">a&lt;b<b>bold</b> &amp; end</p>'
    assert written(element("td")) == "<td></td>"
    assert "�" in written(element("p", "\ud800\x01"))


def test_parts_without_anything_in_them_are_left_out():
    assert card("title", None, note(""), grid(("a",), [])) == card("title")


def test_numbers_and_names_in_words():
    assert [counted(n, "item") for n in (0, 1, 1200)] == ["0 items", "1 item", "1,200 items"]
    assert counted(2, "strategy", "strategies") == "2 strategies"
    assert listed("abc", 3) == "a, b, c"
    assert listed("abcdefgh", 8, most=2) == "a, b and 6 more"
    assert listed((), 0) == ""
    assert shortened("x" * 24) == "x" * 24
    assert shortened("x" * 25) == "x" * 23 + "…"
