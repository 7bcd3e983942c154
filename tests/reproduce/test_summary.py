"""The table of claims: complete, in step with the pages, and no verdict is lost."""

import json

import pytest
from reproduce.claims import Ledger, above, alike, below, mostly, read_claims, together
from reproduce.figures import SHOWN, Shown
from reproduce.summary import HERE, RESULTS, counts, read_page, write_summary

PAGE = """# A paper (2020)

`python -m reproduce.paper`: how it was done.

## (a) First figure

**Numbers fall: held** (4.2%; paper: 5%). **Accuracy unchanged: did not hold** for one | two.

- **(ours) ours is faster: cannot be told** (2 s against
  10 s).
"""


def ledger():
    return Ledger(10, "two standard errors", True, others={"(ours)": {"whose": "ours", "trials": 3, "fixed": False}})


def test_claims_of_a_page_are_kept_as_data(tmp_path):
    ledger().write("paper", PAGE, tmp_path)
    first, second, ours = read_claims("paper", tmp_path)
    assert (first.text, first.verdict, first.figures) == ("Numbers fall", "held", "4.2%; paper: 5%")
    assert (first.whose, first.where, first.trials, first.fixed) == ("paper", "(a) First figure", 10, True)
    assert (second.verdict, second.figures) == ("did not hold", "for one | two")
    assert (ours.whose, ours.verdict, ours.trials, ours.fixed) == ("ours", "cannot be told", 3, False)
    assert counts([read_page(tmp_path / "paper.md")], "paper") == "1 held, 1 did not hold, 0 cannot be told"


@pytest.mark.parametrize(
    "stray",
    [
        "**Accuracy unchanged: held in part**",
        "**(b) Accuracy unchanged.** With full maps: did not hold for one level.",
        "**J: better on 3 tables, held on 2**",
        "Accuracy unchanged: **held** (2%)",
        "Accuracy cannot be told",
    ],
)
def test_a_verdict_that_does_not_fit_is_an_error(tmp_path, stray):
    with pytest.raises(ValueError, match=r"paper\.md: .* looks like a verdict"):
        ledger().write("paper", f"{PAGE}\n{stray}\n", tmp_path)


def test_a_page_without_claims_or_out_of_step_is_an_error(tmp_path):
    with pytest.raises(ValueError, match=r"paper\.md: no claim"):
        ledger().write("paper", "# A paper\n\nNothing was held back.\n", tmp_path)
    (tmp_path / "paper.md").write_text(PAGE, encoding="utf-8")
    with pytest.raises(ValueError, match=r"paper\.claims\.json is missing"):
        write_summary(tmp_path, tmp_path / "README.md")
    ledger().write("paper", PAGE, tmp_path)
    (tmp_path / "paper.md").write_text(PAGE.replace("did not hold", "held"), encoding="utf-8")
    with pytest.raises(ValueError, match="do not say the same"):
        read_claims("paper", tmp_path)


def test_a_stored_verdict_has_one_of_three_values(tmp_path):
    ledger().write("paper", PAGE, tmp_path)
    path = tmp_path / "paper.claims.json"
    rows = json.loads(path.read_text(encoding="utf-8"))
    rows[0]["verdict"] = "held, within chance"
    path.write_text(json.dumps(rows), encoding="utf-8")
    with pytest.raises(ValueError, match="expected one of"):
        read_claims("paper", tmp_path)


def test_an_interval_that_holds_the_limit_tells_nothing():
    assert (below(-2.0, 1.0), below(2.0, 1.0), below(0.5, 1.0)) == (True, False, None)
    assert (above(2.0, 1.0), above(0.5, 1.0), above(-2.0, 1.0)) == (True, None, False)
    assert (alike(0.1, 0.1, 0.5), alike(-0.9, 0.1, 0.5), alike(0.5, 0.1, 0.5)) == (True, False, None)
    assert (mostly([True, True, None]), mostly([True, False]), mostly([True, None, False, None])) == (True, False, None)
    assert (together([True, None]), together([None, False]), together([True])) == (None, False, True)


def test_every_table_and_figure_has_a_page_or_a_reason():
    assert {shown.page for shown in SHOWN} - {""} <= {path.stem for path in RESULTS.glob("*.md")}
    assert len({(shown.paper, shown.number) for shown in SHOWN}) == len(SHOWN)
    counted = {"McFee": 13, "Kleindessner": 9, "Yeung": 8, "Heim": 27, "Ouyang": 12}  # counted in the papers
    for paper, number in counted.items():
        assert sum(shown.paper.startswith(paper) for shown in SHOWN) == number
    with pytest.raises(ValueError, match="expected a state"):
        Shown("A paper", "Fig. 1", "run", "", "without its page")


def test_the_table_is_the_pages(tmp_path):
    pages = write_summary(RESULTS, tmp_path / "README.md")
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == (HERE / "README.md").read_text(encoding="utf-8"), (
        "run `python -m reproduce --summary`"
    )
    assert len(pages) == len(list(RESULTS.glob("*.md")))
