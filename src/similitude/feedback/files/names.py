"""Names of items in a table: what the answers call an item, a number mostly, in the first column, and then its name."""

from __future__ import annotations

from pathlib import Path

from similitude.feedback.files.item_tables import read_item_table
from similitude.feedback.items import check_names


def read_names(path: Path) -> dict[str, str]:
    """Return the name of each item by what the answers call it.

    Parameters
    ----------
    path : any kind of table; names stand in the second column, or in the one that is called `name`
    """
    table = read_item_table(path).texts()
    if len(table.columns) < 2:
        raise ValueError(
            f"{path.name}: expected what the answers call an item in the first column and its name after it"
        )
    called, others = table.iloc[:, 0].str.strip(), table.columns[1:]
    column = next((one for one in others if str(one).strip().lower() == "name"), others[0])
    if called.duplicated().any():
        raise ValueError(
            f"{path.name}: two rows are about item {called[called.duplicated()].iloc[0]!r}; expected one each"
        )
    try:
        check_names(table[column].tolist())
    except ValueError as error:
        raise ValueError(f"{path.name}: {str(error).removeprefix('names: ')}") from None
    return dict(zip(called, table[column], strict=True))
