"""The table of claims: read off the pages, complete, and in step with them."""

import pytest
from reproduce.summary import HERE, RESULTS, read_page, write_summary

PAGE = """# A paper (2020)

`python -m reproduce.paper`: how it was done.

## (a) First figure

**Numbers fall: held** (4.2%; paper: 5%). **Accuracy unchanged: did not hold** for one | two.

- (ours) ours is faster: **held** (2 s against
  10 s).

**Mostly zeros: held. Sparser: did not hold; of lower rank: did not hold.** The paper has .9.
"""


def test_claims_of_a_page(tmp_path):
    path = tmp_path / "paper.md"
    path.write_text(PAGE, encoding="utf-8")
    page = read_page(path)
    assert page.title == "A paper (2020)"
    found = [(claim.text, claim.verdict) for claim in page.claims]
    assert found == [
        ("Numbers fall", "held"),
        ("Accuracy unchanged", "did not hold"),
        ("(ours) ours is faster", "held"),
        ("Mostly zeros", "held"),
        ("Sparser", "did not hold"),
        ("of lower rank", "did not hold"),
    ]
    assert page.claims[0].figures == "(4.2%; paper: 5%)"
    assert page.claims[2].figures == "(2 s against 10 s)"
    assert {claim.where for claim in page.claims} == {"(a) First figure"}


def test_a_page_without_claims_is_an_error(tmp_path):
    (tmp_path / "paper.md").write_text("# A paper\n\nNothing.\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"paper.md: no claim found"):
        write_summary(tmp_path, tmp_path / "README.md")


def test_the_table_is_the_pages(tmp_path):
    pages = write_summary(RESULTS, tmp_path / "README.md")
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == (HERE / "README.md").read_text(encoding="utf-8"), (
        "run `python -m reproduce --summary`"
    )
    assert len(pages) == len(list(RESULTS.glob("*.md")))
