"""Study folders for the tests: faces drawn as SVG, colours, words, tones; one study for each form of question."""

from __future__ import annotations

import io
import math
import wave
from pathlib import Path

from PIL import Image

PAGES = {
    "consent.md": "# Taking part\n\nWe keep your answers. <b>No HTML</b> gets through.\n",
    "instructions.md": "# How it works\n\nGo by your *first* impression.\n",
}
WORDS = ("apple", "boat", "candle", "drum", "engine", "flute", "garden", "hammer", "island", "jacket")
FORMS = {
    "triplet": "",
    "odd_one_out": "",
    "choice": "grid_size = 6\npick = 2",
    "quadruplet": "",
    "most_central": "",
    "ranking": "grid_size = 6\npick = 3",
    "best_worst": "grid_size = 5",
    "attribute": 'grid_size = 4\nlow = "the saddest"\nhigh = "the gladdest"',
    "grouping": "grid_size = 4",
    "placement": "grid_size = 3",
    "similarity_rating": "",
    "same_different": "",
    "labelling": 'classes = ["calm", "glad", "sad"]',
}
SHORT = 'pages = {consent = "", instructions = ""}\n'


def write_study(root: Path, name: str, toml: str, items: dict[str, str | bytes] | None = None) -> Path:
    """Write a study with its pages; `items` are files by name below the study's folder (default: twelve faces)."""
    folder = root / name
    found = items if items is not None else faces()
    for path, content in {"study.toml": toml, **PAGES, **found}.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def one_of_each_form(root: Path, number: int = 2) -> None:
    """A study for each form, of `number` questions and no other pages; its name is the form's, with dashes."""
    for form, more in FORMS.items():
        question = f'[question]\nform = "{form}"\nnumber = {number}\n{more}\n'
        write_study(root, form.replace("_", "-"), f'title = "Faces"\n{SHORT}{question}')


def faces(number: int = 12) -> dict[str, str | bytes]:
    """Faces that differ in width, in how far apart the eyes are and in how they smile."""
    return {f"items/face{k:02d}.svg": _face(k, number) for k in range(number)}


def _face(k: int, number: int) -> str:
    turn = 2 * math.pi * k / number
    width, eyes, smile = 70 + 18 * math.cos(turn), 26 + 10 * math.sin(turn), 26 * math.cos(2 * turn + 0.5)
    skin = f"hsl({20 + 20 * (k % 4)} 60% {72 - 4 * (k % 3)}%)"
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" width="240" height="240" viewBox="0 0 240 240">'
        '<rect width="240" height="240" fill="#eef1f4"/>'
        f'<ellipse cx="120" cy="122" rx="{width:.0f}" ry="92" fill="{skin}" stroke="#333" stroke-width="3"/>'
        f'<circle cx="{120 - eyes:.0f}" cy="100" r="9" fill="#222"/>'
        f'<circle cx="{120 + eyes:.0f}" cy="100" r="9" fill="#222"/>'
        f'<path d="M84 158 Q120 {158 + smile:.0f} 156 158" fill="none" stroke="#222" stroke-width="6"/></svg>'
    )


def picture(width: int = 40, height: int = 30, grey: int = 200, kind: str = "PNG") -> bytes:
    """A picture of one grey."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), (grey, grey, grey)).save(out, kind)
    return out.getvalue()


def colours(number: int = 12) -> dict[str, str | bytes]:
    """A table of colours around the circle of hues."""
    rows = [f"c{k:02d},#{_part(k, number, 0)}{_part(k, number, 1)}{_part(k, number, 2)}" for k in range(number)]
    return {"colours.csv": "\n".join(["name,colour", *rows])}


def _part(k: int, number: int, third: int) -> str:
    return f"{round(140 + 90 * math.cos(2 * math.pi * (k / number - third / 3))):02x}"


def words() -> dict[str, str | bytes]:
    """Items that are texts, one of them with HTML in it."""
    return {f"items/{word}.txt": f"a <i>{word}</i>" if word == "boat" else word for word in WORDS}


def tones(number: int = 4) -> dict[str, str | bytes]:
    """Short sounds."""
    return {f"items/tone{k}.wav": _tone(300 + 100 * k) for k in range(number)}


def _tone(frequency: float, rate: int = 8000) -> bytes:
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(rate)
        sound.writeframes(
            bytes(round(128 + 90 * math.sin(2 * math.pi * frequency * k / rate)) for k in range(rate // 2))
        )
    return out.getvalue()
