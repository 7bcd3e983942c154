"""Pages that show what their code prints and draws, and the stored pictures of those that need a browser."""

import importlib.util
import io
import os
import re

import pytest
from PIL import Image

from tests.docs.pages import DOCS
from tests.shell import run
from tests.study.conftest import browser  # noqa: F401

REPORT = DOCS / "images" / "hour" / "report.png"
PAGE = """# A page

```bash
similitude simulate few.csv --items 5 --answers 40 --raters 2
```

```python
import similitude as sm

model = sm.STE(2, random_state=0).fit(sm.read_comparisons("few.csv"))
print("learned", model.embedding_.shape)
axes = sm.plot.embedding(model)
```

```text
not run
```
"""


@pytest.fixture(scope="module")
def executed():
    spec = importlib.util.spec_from_file_location("executed", DOCS / "executed.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    """The folder of pictures; the code runs in another, which is empty."""
    for folder in ("work", "pictures"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "pictures"


def test_below_a_block_stands_what_it_printed_and_drew(executed, pictures):
    page = executed.with_results(PAGE, pictures, "/here")
    outputs = re.findall(r"```\{code-block\} text\n:class: output\n\n(.*?)\n```", page, re.DOTALL)
    assert outputs[0].startswith("few.csv: 40 comparisons")
    assert outputs[1:] == ["learned (5, 2)"]
    assert re.findall(r"\]\(/here/(\S+)\)", page) == [file.name for file in pictures.iterdir()] == ["0.png"]
    assert "not run" not in "".join(outputs)


def test_a_command_that_fails_ends_the_build(executed, pictures):
    with pytest.raises(RuntimeError, match=r"similitude fit absent\.csv"):
        executed.with_results("```bash\nsimilitude fit absent.csv\n```\n", pictures, "/here")


def test_the_pages_of_the_first_hour_are_executed(executed):
    for page in ("first-hour.md", "tutorial.md", "tutorials/products.md", "tutorials/methods.md"):
        assert executed._EXECUTED.match((DOCS / page).read_text(encoding="utf-8")), page


def test_every_step_of_the_first_hour_has_a_picture_or_what_it_prints():
    text = (DOCS / "first-hour.md").read_text(encoding="utf-8")
    for step in re.split(r"^## ", text, flags=re.MULTILINE)[2:-1]:  # after installing, before going on
        assert re.search(r"^!\[|^```(python|bash)", step, re.MULTILINE), step.splitlines()[0]
    assert 10_000 < REPORT.stat().st_size < 200_000


@pytest.mark.parametrize("word", ["excel", "R", "exclude", "raters", "semicolon", "faiss"])
def test_what_people_search_for_is_on_a_page(word):
    pages = [page.read_text(encoding="utf-8") for page in DOCS.glob("how-to/*.md")]
    assert any(re.search(rf"\b{word}s?\b", page, re.IGNORECASE if len(word) > 1 else 0) for page in pages)


@pytest.mark.skipif("SIMILITUDE_DOCS_PICTURES" not in os.environ, reason="made anew by `make pictures`")
def test_picture_of_the_report(browser, tmp_path):  # noqa: F811
    run("demo", folder=tmp_path)
    run("learn", "demo/colours.csv", "--time-limit", 120, folder=tmp_path)
    page = browser.new_page(viewport={"width": 1000, "height": 1100}, device_scale_factor=1)
    page.goto((tmp_path / "demo" / "colours_report" / "report.html").as_uri())
    page.wait_for_timeout(500)
    REPORT.parent.mkdir(exist_ok=True)
    drawn = Image.open(io.BytesIO(page.screenshot()))
    drawn.convert("RGB").quantize(256, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(REPORT, optimize=True)
    page.close()
