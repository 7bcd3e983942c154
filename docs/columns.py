"""The table of all columns of a report's tables in `how-to/report.md`, made of what the package itself says of them.

python docs/columns.py        writes it into the page; a test compares the two
"""

from pathlib import Path

from similitude.analysis.columns import MEANINGS

PAGE = Path(__file__).parent / "how-to" / "report.md"
BEGIN, END = "<!-- columns: made by docs/columns.py -->\n", "<!-- end of columns -->\n"


def written() -> str:
    """Return the table in Markdown."""
    rows = [
        f"| `{table}.csv` | {column} | {means} |" if k == 0 else f"| | {column} | {means} |"
        for table, columns in MEANINGS.items()
        for k, (column, means) in enumerate(columns.items())
    ]
    return "\n".join(["| table | column | meaning |", "|---|---|---|", *rows, ""])


def page_with(text: str, table: str) -> str:
    """Return the page with the table between its marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + table + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page_with(PAGE.read_text(encoding="utf-8"), written()), encoding="utf-8")
