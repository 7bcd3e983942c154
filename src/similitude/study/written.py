"""The researcher's own pages: Markdown as HTML, and the pictures that they show, which are no items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markupsafe import Markup

from similitude.study.items import KINDS
from similitude.study.opening import fault_of
from similitude.study.settings import Study, StudyError

FOLDER = "pages"  # beside study.toml; also the last part of their address, so that Markdown names them as they lie

_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def markdown(text: str) -> Markup:
    """Markdown as HTML; HTML in it is shown as it is written, never let through."""
    return Markup(_MARKDOWN.render(text))


def picture_of_page(study: Study, name: str) -> Path | None:
    """The file of a picture that pages may show; None where there is none of this name."""
    return picture_at(study.folder, name)


def picture_at(study: Path, name: str) -> Path | None:
    """The same of the folder of a study."""
    folder = study / FOLDER
    try:
        path = (folder / name).resolve()
        shown = path.parent == folder.resolve() and KINDS.get(path.suffix.lower()) == "image"
        return path if shown and path.is_file() else None
    except (OSError, ValueError):  # a name that no file can have: too long, or with NUL in it
        return None


def check_pictures(study: Study) -> None:
    """Refuse a study whose pages show pictures that are not there, or that cannot be shown."""
    for page, text in study.words.items():
        for address in _pictures(text):
            where = f"{study.name}: pages.{page} shows the picture {address!r}"
            folder, _, name = address.rpartition("/")
            path = picture_of_page(study, name) if folder == FOLDER else None
            if path is None:
                raise StudyError(f"{where}; expected {FOLDER}/NAME, a picture in the folder {FOLDER!r} of the study")
            if why := fault_of(path):
                raise StudyError(f"{where}, which cannot be shown: {why}")


def _pictures(text: str) -> Iterator[str]:
    """The addresses of the pictures in a Markdown text."""
    for token in _MARKDOWN.parse(text):
        for part in token.children or ():
            if part.type == "image":
                yield unquote(str(part.attrs["src"]))
