"""Links and pictures lead somewhere, and the pages ask nothing of other hosts."""

import re

import pytest

from tests.docs.pages import DOCS, EXAMPLES, ROOT, name, pages

_LINK = re.compile(r"\]\(([^)\s]+)\)")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@pytest.mark.parametrize("page", pages(), ids=name)
def test_links_resolve(page):
    broken = []
    for target in _LINK.findall(_CODE.sub("", page.read_text(encoding="utf-8"))):
        path = target.split("#")[0]
        if not path or re.match(r"[a-z]+:", path):
            continue
        if not ((page.parent / path).exists() or is_example(page, path)):
            broken.append(target)
    assert broken == []


def is_example(page, path):
    """Whether a link into the gallery, which the build makes, has an example behind it."""
    target = (page.parent / path).resolve()
    return target.parent == DOCS / "gallery" and (EXAMPLES / target.with_suffix(".py").name).is_file()


@pytest.mark.parametrize("page", pages(), ids=name)
def test_pages_are_in_a_table_of_contents(page):
    if page == DOCS / "index.md":
        return
    entries = set()
    for other in [*pages()]:
        for block in re.findall(r"```\{toctree\}\n(.*?)```", other.read_text(encoding="utf-8"), re.DOTALL):
            lines = [line.strip() for line in block.splitlines() if line.strip() and not line.startswith(":")]
            entries |= {(other.parent / f"{line}.md").resolve() for line in lines}
    assert page.resolve() in entries


@pytest.mark.parametrize("page", pages(), ids=name)
def test_pages_do_not_lean_on_this_machine(page):
    text = page.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.])/(work|tmp|home|root|usr)/", text)
    assert not re.search(r"https?://", text), "link by name; pages ask nothing of other hosts"


def test_included_pages_exist():
    for page in DOCS.rglob("*.md"):
        for target in re.findall(r"```\{include\} (\S+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).is_file(), target


@pytest.mark.parametrize(
    "marker", re.findall(r'start-after: "(.*)"', (DOCS / "methods" / "figures.md").read_text(encoding="utf-8"))
)
def test_figures_are_in_the_benchmarks(marker):
    assert marker in (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8")
