"""Exports of other tools, each read by an object in a file of its own, recognised by what the file holds.

A tool turns its export into a table in one of the layouts (`files/layouts.py`); everything after that is the same for
all files. A package of your own adds one with `register`, or by an entry point of the group `similitude.tools` that
names a `Tool`.
"""

from __future__ import annotations

import warnings
from importlib.metadata import entry_points

from similitude.feedback.files.sources import FileSource
from similitude.feedback.files.tools.base import Export as Export
from similitude.feedback.files.tools.base import Tool as Tool
from similitude.feedback.files.tools.cblearn import CBLEARN
from similitude.feedback.files.tools.dissimilarities import SQUARE
from similitude.feedback.files.tools.jspsych import JSPSYCH
from similitude.feedback.files.tools.label_studio import LABEL_STUDIO
from similitude.feedback.files.tools.labjs import LABJS
from similitude.feedback.files.tools.meadows import MEADOWS
from similitude.feedback.files.tools.mturk import MTURK
from similitude.feedback.files.tools.psychopy import PSYCHOPY
from similitude.feedback.files.tools.qualtrics import QUALTRICS
from similitude.feedback.files.tools.rsatoolbox import RSATOOLBOX
from similitude.feedback.files.tools.salmon import SALMON
from similitude.feedback.files.tools.things import THINGS

TOOLS: dict[str, Tool] = {}
"""The tools in the order in which files are tried, by name."""

_OURS = (
    MEADOWS, RSATOOLBOX, CBLEARN, LABEL_STUDIO, QUALTRICS, MTURK, PSYCHOPY, JSPSYCH, LABJS, SALMON, THINGS, SQUARE,
)  # fmt: skip


def register(tool: Tool) -> Tool:
    """Make a tool known under its name, before those that are known."""
    if not isinstance(tool, Tool):
        raise TypeError(f"tool: expected a Tool, found {tool!r}")
    known = {name: one for name, one in TOOLS.items() if name != tool.name}
    TOOLS.clear()
    TOOLS.update({tool.name: tool, **known})
    return tool


def load_entry_points() -> None:
    """Register the tools of other packages; one that cannot be loaded is left out, with a warning."""
    for point in entry_points(group="similitude.tools"):
        try:
            register(point.load())
        except Exception as error:  # whatever a stranger's module raises must not keep similitude from reading
            brought = point.dist.name if point.dist is not None else "a package"
            warnings.warn(f"the tool {point.name!r} of {brought} could not be loaded: {error}", stacklevel=2)


def tool_of(source: FileSource) -> Tool | None:
    """The tool that wrote a file, or None."""
    return next((tool for tool in TOOLS.values() if tool.recognises(source)), None)


for _tool in reversed(_OURS):
    register(_tool)
load_entry_points()
