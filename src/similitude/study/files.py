"""The text files of a study: as they lie in its folder, or as they would be if some of them were written anew."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

Texts = Mapping[str, str | None]  # by name as `study.toml` says it; None is a file that is not there


class Files:
    """What reads a study; it remembers what was read, which is what a version of the study is made of.

    Parameters
    ----------
    folder : of the study
    given : texts in place of those that lie there
    alone : whether there is nothing beside those
    """

    def __init__(self, folder: Path, given: Texts | None = None, alone: bool = False) -> None:
        self.folder, self.given, self.alone = folder, dict(given or {}), alone
        self.read: dict[str, str] = {}

    def exact(self, name: str) -> str:
        """The text of a file with its line ends as they are; OSError or UnicodeDecodeError where there is none."""
        found = self.given[name] if name in self.given else self._on_disk(name)
        if found is None:
            raise FileNotFoundError(2, "No such file or directory", str(self.folder / name))
        self.read[name] = found
        return found

    def text(self, name: str) -> str:
        """The same with line ends as Python has them."""
        return self.exact(name).replace("\r\n", "\n").replace("\r", "\n")

    def is_file(self, name: str) -> bool:
        """Whether there is such a file."""
        if name in self.given:
            return self.given[name] is not None
        return not self.alone and (self.folder / name).is_file()

    def _on_disk(self, name: str) -> str | None:
        return (
            None if self.alone else (self.folder / name).read_bytes().decode("utf-8-sig")
        )  # some editors write a mark
