"""Simulated people before the rater's page in Chromium: they read, drag and click as people do."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import similitude as sm
from benchmarks.arranging import Floats, said
from benchmarks.chromium import chromium
from benchmarks.study_server import Server
from similitude.study.maintenance.export import export_answers
from similitude.study.store.database import Database

_ON_SCREEN = "main[data-number='{}'] .stage:not(.loading)"


def answered_on_page(
    form: str, truth: Floats, size: int, raters: int, each: int, seed: int
) -> tuple[sm.Comparisons, float]:
    """What so many people compare who answer `each` questions; and how far from where it was meant an item was kept."""
    names = [f"w{k:02d}" for k in range(len(truth))]
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        root = _write(Path(folder) / "words", form, size, each, names)
        url = f"sqlite:///{root / 'answers.db'}"
        server = Server(root, url).wait()
        try:
            meant = [_take_part(browser, server.port, form, each, truth, names, rng) for _ in range(raters)]
        finally:
            server.kill()
        database = Database(url)
        export_answers(database, "words", root / "export.csv")
        database.close()
        found = sm.read_comparisons(root / "export.csv").with_items(names)
    stored = np.concatenate([found.answers.response[row] for row in range(found.n_answers)])
    return found, float(np.abs(stored - np.concatenate([one for all_of in meant for one in all_of])).max())


def _write(folder: Path, form: str, size: int, each: int, names: list[str]) -> Path:
    folder.mkdir()
    (folder / "words.csv").write_text("\n".join(["name", *names]) + "\n", encoding="utf-8")
    question = f'[question]\nform = "{form}"\nnumber = {each}\ngrid_size = {size}\n[items]\ntable = "words.csv"\n'
    pages = 'pages = {consent = "", instructions = ""}\n'
    (folder / "study.toml").write_text(f'title = "Words"\n{pages}{question}', encoding="utf-8")
    return folder


def _take_part(
    browser: Any, port: int, form: str, each: int, truth: Floats, names: list[str], rng: np.random.Generator
) -> list[list[float]]:
    """One person, from the first question to the last: what was meant each time."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{port}/s/words/")
    meant = []
    for number in range(each):
        page.wait_for_selector(_ON_SCREEN.format(number))
        page.wait_for_selector(".others .other:enabled")
        shown = json.loads(page.evaluate(_READ))
        places = truth[[names.index(name) for name in shown]]
        response = said(form, places, rng)
        if form == "triplet":
            page.click(f".choose >> nth={int(response[0]) - 1}")
        else:
            for k, (x, y) in enumerate(np.reshape(response, (-1, 2))):
                _drag(page, f"{k + 1} {shown[k]}", x, y)
            page.click(".confirm .main")
        meant.append(response)
    page.wait_for_selector("text=Done. Thank you!")
    context.close()
    return meant


# the items of a question as they can be read: a head, and what can be pressed, in the order of their numbers
_READ = """() => {
  const head = [...document.querySelectorAll(".head .text")].map((one) => one.textContent);
  const buttons = [...document.querySelectorAll(".choose, .chip")].map((one) => one.ariaLabel.split(",")[0].split(" "));
  return JSON.stringify([...head, ...buttons.sort((a, b) => a[0] - b[0]).map((one) => one[1])]);
}"""


def _drag(page: Any, called: str, x: float, y: float) -> None:
    """Drag an item from beside the table to a place upon it."""
    chip = page.locator(f".tray .chip[aria-label^='{called},']").bounding_box()
    table = page.locator(".table").bounding_box()
    reach = (table["width"] - chip["width"]) / 2
    page.mouse.move(chip["x"] + chip["width"] / 2, chip["y"] + chip["height"] / 2)
    page.mouse.down()
    middle = table["x"] + table["width"] / 2, table["y"] + table["height"] / 2
    page.mouse.move(*middle)
    page.mouse.move(middle[0] + reach * x, middle[1] - reach * y)
    page.mouse.up()
