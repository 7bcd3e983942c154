"""Every form of question with every kind of item on one server, and what may be wrong with a page on a screen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from PIL import Image

from tests.study.making import FORMS, SHORT, WORDS, colours, faces, tones, write_study

KINDS = ("picture", "text", "long-text", "sound", "film", "colour", "mixed")
WIDTHS = (320, 360, 390, 768, 1024, 1280, 1536, 1920)
HEIGHTS = dict(zip(WIDTHS, (640, 740, 844, 1024, 768, 800, 864, 1080), strict=True))
DIRECTIONS = ("ltr", "rtl")
FILM = b"\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff"  # as far as the server looks; the browser records the rest
SHOWN_AND_SAID = {
    "triplet": (3, [1]),
    "odd_one_out": (3, [0]),
    "choice": (9, [1, 2]),
    "quadruplet": (4, [0]),
    "most_central": (3, [0]),
    "ranking": (9, [3, 1]),
    "best_worst": (7, [3, 1]),
    "attribute": (6, [5, 3, 4, 0, 1, 2]),
    "grouping": (8, [0, 1, 0, 2, 0, 1, 2, 2]),
    "placement": (8, [0, 0, 0.5, 0.5, -0.5, 0.5, 0, 1, -1, 0, 0.3, 0.2, 0, -0.5, 0.4, -0.8]),
    "similarity_rating": (2, [1]),
    "same_different": (2, [1]),
    "labelling": (1, [0, 1]),
}  # how many items are shown, and an answer
LARGER = {
    "choice": "grid_size = 8\npick = 2",
    "ranking": "grid_size = 8\npick = 2",
    "best_worst": "grid_size = 6",
    "attribute": 'grid_size = 6\nlow = "the saddest"\nhigh = "the gladdest of them all"',
    "grouping": "grid_size = 8",
    "placement": "grid_size = 8",
}  # as much as studies show
_LONG = "A sentence about {} that goes on for a while, as sentences in studies do, Donaudampfschifffahrtsgesellschaft. "

# What sticks out of the screen to the left or right or out of its card, lies under something else, or on another card.
ASTRAY = """() => {
  const wide = document.documentElement.clientWidth;
  const found = [];
  const name = (one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 20)}`;
  const shown = (one) => one.checkVisibility() && one.getBoundingClientRect().width > 1;
  for (const one of document.querySelectorAll("main *, header *")) {
    const { left, right } = one.getBoundingClientRect();
    if (shown(one) && (left < -0.5 || right > wide + 0.5)) found.push(`${name(one)}: ${left} to ${right} of ${wide}`);
  }
  if (document.documentElement.scrollWidth > wide) found.push(`scrolls to ${document.documentElement.scrollWidth}`);
  for (const one of document.querySelectorAll("main button, main input, main audio, main video")) {
    if (!shown(one)) continue;
    one.scrollIntoView({ block: "center" });
    const { left, width, height } = one.getBoundingClientRect();
    const inset = 0.15 * Math.min(width, height); // round corners are no part of a button
    for (const [across, down] of [[0.5, 0.5], [0, 0], [1, 0], [0, 1], [1, 1]]) {
      const x = left + inset + across * (width - 2 * inset);
      const y = () => one.getBoundingClientRect().top + inset + down * (height - 2 * inset);
      if (y() < 0 || y() >= innerHeight) window.scrollBy(0, y() - innerHeight / 2); // taller than the screen
      const hit = document.elementFromPoint(x, y());
      const own = one === hit || one.contains(hit) || hit?.matches(".enlarge"); // on a card that is a button
      if (!own) found.push(`${name(one)} lies under ${hit && name(hit)}`);
    }
  }
  for (const card of document.querySelectorAll(".card, .head")) {
    const outer = card.getBoundingClientRect();
    for (const one of card.querySelectorAll("*")) {
      const { left, top, right, bottom } = one.getBoundingClientRect();
      const out = Math.max(outer.left - left, outer.top - top, right - outer.right, bottom - outer.bottom);
      if (shown(one) && out > 1) found.push(`${name(one)} hangs ${Math.round(out)} px out of its card`);
    }
  }
  const cards = [...document.querySelectorAll(".card, .head")].map((one) => one.getBoundingClientRect());
  cards.forEach((one, k) => cards.slice(k + 1).forEach((other) => {
    const across = Math.min(one.right, other.right) - Math.max(one.left, other.left);
    const down = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
    if (across > 1 && down > 1) found.push("two cards overlap");
  }));
  window.scrollTo(0, 0);
  return found;
}"""

# The page has heard that the screen has another size, and is painted so.
ARRANGED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"

RECORD = """async () => {
  const canvas = Object.assign(document.createElement("canvas"), {width: 64, height: 64});
  const brush = canvas.getContext("2d");
  const recorder = new MediaRecorder(canvas.captureStream(25), {mimeType: "video/webm"});
  const parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  const stopped = new Promise((resolve) => (recorder.onstop = resolve));
  recorder.start();
  for (let k = 0; k < 10; k += 1) {
    brush.fillStyle = `hsl(${36 * k} 80% 50%)`;
    brush.fillRect(0, 0, 64, 64);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  recorder.stop();
  await stopped;
  return [...new Uint8Array(await new Blob(parts).arrayBuffer())];
}"""


MIXED = [
    "word",
    "tone0",
    "face00",
    "tale",
    "tone1",
    "face01",
    "saying",
    "tone2",
    "face02",
]  # in a question, from its start


def mixed() -> dict[str, str | bytes]:
    """Sounds, texts short and long, and pictures, so that most questions show several kinds."""
    sounds, pictures = list(tones(4).items()), list(faces(3).items())
    texts = [
        ("items/word.txt", "candle"),
        ("items/saying.txt", _LONG.format("mixed")),
        ("items/tale.txt", _LONG.format("x") * 4),
    ]
    return dict([*sounds, *texts, *pictures])


def items(kind: str) -> dict[str, str | bytes]:
    """Ten items of a kind."""
    files = [f"items/item{k}" for k in range(10)]
    return {
        "picture": faces(10),
        "text": {f"items/{word}.txt": word for word in WORDS},
        "long-text": {f"{name}.txt": _LONG.format(name) * (2 + k % 3) for k, name in enumerate(files)},
        "sound": tones(10),
        "film": {f"{name}.webm": FILM for name in files},
        "colour": colours(10),
        "mixed": mixed(),
    }[kind]


def one_of_each(root: Path) -> None:
    """A study for each form and kind, called `form-kind`, with dashes for spaces."""
    for form, kind in product(FORMS, KINDS):
        more = LARGER.get(form, FORMS[form])
        table = '[items]\ntable = "colours.csv"\n' if kind == "colour" else ""
        toml = f'title = "Things that are alike"\n{SHORT}[question]\nform = "{form}"\nnumber = 5\n{more}\n{table}'
        write_study(root, study_of(form, kind), toml + (_mixed_first(form) if kind == "mixed" else ""), items(kind))


def _mixed_first(form: str) -> str:
    """A practice question whose items are of all kinds that the form has room for."""
    shown, correct = SHOWN_AND_SAID[form]
    return f"[practice]\nquestions = [{{shown = {MIXED[:shown]}, correct = {correct}}}]\n"


def study_of(form: str, kind: str) -> str:
    return f"{form}-{kind}".replace("_", "-")


def pairwise(*factors: Sequence[str | int]) -> list[tuple]:
    """A few rows in which any two values of any two factors meet; the same rows each time."""
    left = {((a, x), (b, y)) for a, b in _pairs(len(factors)) for x in factors[a] for y in factors[b]}
    rows = []
    every = list(product(*factors))
    while left:
        best = max(every, key=lambda row: len(_met(row) & left))
        left -= _met(best)
        rows.append(best)
    return rows


def _pairs(n: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(n) for b in range(a + 1, n)]


def _met(row: Sequence) -> set:
    return {((a, row[a]), (b, row[b])) for a, b in _pairs(len(row))}


def contact_sheet(pictures: Sequence[Path], target: Path, columns: int, width: int = 240, height: int = 170) -> None:
    """Many screenshots on one page, each cut at its lower end."""
    sheet = Image.new("RGB", (columns * (width + 6), -(-len(pictures) // columns) * (height + 6)), "black")
    for k, path in enumerate(pictures):
        with Image.open(path) as picture:
            small = picture.convert("RGB")
            scale = min(width / small.width, height / small.height)
            small = small.resize((round(small.width * scale), round(small.height * scale)))
        sheet.paste(small, (k % columns * (width + 6) + (width - small.width) // 2, k // columns * (height + 6)))
    sheet.save(target)
