"""Tables: printed to be read, stored as JSON to be kept, and copied to where README.md has a place for them."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.settings import HERE, Settings

Row = dict[str, Any]


@dataclass
class Table:
    """Rows of one measurement; `rows` may carry more fields than the `columns` shown.

    Attributes
    ----------
    name : names the file of results
    title, note : say what was measured
    columns : field of a row -> format of its value ('' for text)
    """

    name: str
    title: str
    columns: dict[str, str]
    rows: list[Row] = field(default_factory=list)
    note: str = ""


def show(table: Table) -> None:
    """Print a table; on a terminal-less run at a width that keeps every column."""
    console = Console(width=None if sys.stdout.isatty() else 150)
    drawn = RichTable(title=table.title, caption=table.note, title_justify="left", caption_justify="left")
    for column, style in table.columns.items():
        drawn.add_column(column, justify="right" if style else "left")
    for row in table.rows:
        drawn.add_row(*(_text(row.get(column), style) for column, style in table.columns.items()))
    console.print(drawn)


def store(table: Table, settings: Settings, command: str) -> None:
    """Write a table and how it was made to `results/NAME.json`, and to its place in README.md if it has one."""
    made = {"command": command, "settings": asdict(settings), "machine": machine()}
    content = {"title": table.title, "note": table.note, **made, "rows": table.rows}
    path = HERE / "results" / f"{table.name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content, indent=1, default=_plain) + "\n", encoding="utf-8")
    readme = HERE / "README.md"
    readme.write_text(with_figures(readme.read_text(encoding="utf-8"), table, command), encoding="utf-8")


def with_figures(text: str, table: Table, command: str) -> str:
    """Return a text with what stands between `<!-- NAME -->` and `<!-- end -->` replaced by a table."""
    start, end = f"<!-- {table.name} -->\n", "<!-- end -->"
    if start not in text:
        return text
    before, rest = text.split(start)
    lines = ["| " + " | ".join(table.columns) + " |", "|" + "---|" * len(table.columns)]
    for row in table.rows:
        cells = (_text(row.get(column), style) for column, style in table.columns.items())
        lines.append("| " + " | ".join(cells) + " |")
    here = machine()
    made = f"{table.title}. {table.note}. `{command}`, {here['cores']} cores, {here['date']}."
    return before + start + "\n".join(["", made, "", *lines, "", end]) + rest.split(end, 1)[1]


def machine() -> Row:
    """Describe what the figures depend on."""
    packages = ("similitude", "numpy", "scipy", "numba", "scikit-learn")
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "cores": os.cpu_count(),
        "memory_gb": _memory(),
        "processor": _processor(),
        "python": platform.python_version(),
        "load_after": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        **{name: importlib.metadata.version(name) for name in packages},
    }


def _memory() -> float | None:
    """Gigabytes, where the system tells."""
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1) if hasattr(os, "sysconf") else None


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def _text(value: Any, style: str) -> str:
    return "-" if value is None else format(value, style)


def _plain(value: Any) -> Any:
    return value.item()  # numpy's numbers
