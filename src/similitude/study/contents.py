"""A study as it can be served: its settings, texts and items, checked before anybody is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from similitude.study.asking import check_items
from similitude.study.files import Files, Texts
from similitude.study.items import Item, read_items
from similitude.study.opening import Opened, check_opens
from similitude.study.rounds import check_number
from similitude.study.settings import Study, read_study
from similitude.study.timing import check_timing
from similitude.study.versions import version_of
from similitude.study.written import check_pictures


@dataclass(frozen=True)
class Contents:
    """All that a folder says.

    Attributes
    ----------
    study : its settings, and the texts of its pages
    items : by name
    files : the text files that it was read from, by name as `study.toml` says them
    opened : the files of items that were opened, each once
    """

    study: Study
    items: Mapping[str, Item]
    files: Mapping[str, str]
    opened: Opened

    @cached_property
    def names(self) -> list[str]:
        """Of the items."""
        return list(self.items)

    @cached_property
    def version(self) -> str:
        """A digest of the settings, the texts of the pages and the items' names."""
        return version_of(self.study, self.names)


def read_contents(
    folder: Path, given: Texts | None = None, before: Contents | None = None, alone: bool = False
) -> Contents:
    """Read a folder and check all that can be checked without the database; StudyError where something is wrong.

    Parameters
    ----------
    folder : of the study
    given : texts in place of those that lie there
    before : the same study as it was, which knows the files of its items already
    alone : whether there are no texts beside those given
    """
    files, opened = Files(folder, given, alone), Opened() if before is None else before.opened
    study = read_study(folder, files)
    items = read_items(study, files)
    check_opens(study.name, items.values(), opened)
    check_pictures(study)
    contents = Contents(study, items, files.read, opened)
    check_items(study, contents.names)
    check_number(study, contents.names)
    check_timing(study, items.values())
    return contents
