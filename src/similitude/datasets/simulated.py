"""The sets that come with the package: answers of simulated raters and clicks of simulated customers.

`docs/datasets.py` made them. They are files, not drawn anew, so that every version of every library reads the same
answers.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

from similitude.datasets.dataset import Dataset
from similitude.feedback.files.read_write import read_comparisons

if TYPE_CHECKING:
    import pandas as pd

_LICENCE = "BSD-3-Clause, as similitude itself"
_CITATION = "Simulated for similitude; cite similitude."


def load_colours() -> Dataset:
    """Return 1,800 answers of simulated raters about which of three colours, of 24, is the odd one out.

    Twelve students and eight designers answered ninety questions each; the column `group` says who is who. Designers
    mind how light a colour is more than students do, and two students, `student 05` and `student 09`, clicked at
    random. `items` has each colour as #rrggbb (`hex`), and its CIELAB coordinates (`L`, `a`, `b`).

    Examples
    --------
    >>> import similitude as sm
    >>> data = sm.datasets.load_colours()
    >>> data.items.loc["teal", "hex"]
    '#008080'
    >>> sorted(set(data.answers.answers.extra["group"]))
    ['designers', 'students']
    """
    return _shipped(
        "colours",
        "24 colours, judged by twelve simulated students and eight designers (the column group) who were shown three "
        "at a time and said which is the odd one out. Designers mind lightness more; two students click at random. "
        "items: hex, and CIELAB coordinates L, a, b.",
    )


def load_products() -> Dataset:
    """Return 1,500 clicks of 100 simulated customers on 60 products, and vectors of the products.

    A customer looked at one product, was shown five others and clicked the one most like it. Customers go by the first
    three of the eight numbers in the vectors (columns `v0` to `v7` of `items`); `kind` is what a shop calls
    the product.

    Examples
    --------
    >>> import similitude as sm
    >>> data = sm.datasets.load_products()
    >>> vectors = data.items.filter(regex="^v").to_numpy()
    >>> sm.FeatureEmbedding(3, random_state=0).fit(data.answers, features=vectors).score(data.answers) > 0.75
    True
    """
    return _shipped(
        "products",
        "60 products of four kinds. 100 simulated customers looked at one, were shown five others and clicked the one "
        "most like it. items: the kind, and a vector v0 to v7, of which customers go by v0 to v2.",
    )


def _shipped(name: str, description: str) -> Dataset:
    import pandas as pd

    folder = resources.files("similitude.datasets") / "shipped"
    with resources.as_file(folder / f"{name}.csv") as answers, resources.as_file(folder / f"{name}_items.csv") as items:
        table: pd.DataFrame = pd.read_csv(items, index_col=0)
        read = read_comparisons(answers, names=[str(name) for name in table.index])
    return Dataset(name, read, table, description, _LICENCE, _CITATION)
