"""Human judgments, fetched from where their authors published them.

Addresses and digests are those that cblearn 0.4.0 publishes for the same files.
"""

from __future__ import annotations

import io
import zipfile

from similitude.datasets.dataset import Dataset
from similitude.datasets.remote import RemoteFile, fetched
from similitude.feedback.comparisons import Comparisons

CARS = RemoteFile(
    "60_cars_data.zip",
    "http://www.tml.cs.uni-tuebingen.de/team/luxburg/code_and_data/60_cars_data.zip",
    "5fa2ad932d48adf5cfe36bd16a08b25fd88d1519d974908f6ccbba769f629640",
)
THINGS = RemoteFile(
    "things_data1854_batch5_test10.txt",
    "https://osf.io/download/sd3f7/",
    "789fb927c87538d29e0cf294793280cf5a77d45dc5fdd87cf8c726993397adb8",
)
THINGS_NAMES = RemoteFile(
    "things_items1854names.tsv",
    "https://osf.io/download/sz2ux/",
    "03dbe77972f9466ff8baa0da604d9f5104f677bf77cc602faebfa03a290fb51c",
)

# The classes that the authors give in their README, by the number of the picture.
_SPORTS = {15, 19, 20, 28, 40, 42, 47, 48, 49, 50, 51, 52, 54, 56, 59}
_OFF_ROAD = {1, 3, 4, 5, 13, 14, 18, 22, 24, 26, 27, 29, 31, 33, 34, 43, 57}
_OUTLIERS = {21, 23, 30, 53}


def fetch_cars() -> Dataset:
    """Return 7,097 human answers about which of three cars, of 60, is the most central.

    The rater is the round of the survey; a person may have done several. `items` has the class of each car. The file
    (a few MB, with the pictures) is fetched once and kept in the cache; `SIMILITUDE_CACHE` says where that is.

    Examples
    --------
    >>> import similitude as sm
    >>> data = sm.datasets.fetch_cars()  # doctest: +SKIP
    >>> print(data)  # doctest: +SKIP
    <cars: 7,097 answers about 60 items by 146 raters>
    """
    import pandas as pd

    with zipfile.ZipFile(fetched(CARS)) as archive:
        survey = archive.read("60_cars_data/survey_data.csv")
    table = pd.read_csv(io.BytesIO(survey), skiprows=1, header=None, names=["round", "central", "c", "d", "e", "time"])
    names = [f"car {k}" for k in range(1, 61)]
    answers = Comparisons.from_most_central(
        table[["c", "d", "e"]].to_numpy() - 1,
        (table[["c", "d", "e"]].to_numpy() == table[["central"]].to_numpy()).argmax(axis=1),
        rater=[f"round {k}" for k in table["round"]],
        time=table["time"].to_numpy(float),
        names=names,
    )
    return Dataset(
        "cars",
        answers,
        pd.DataFrame({"class": [_class_of(k) for k in range(1, 61)]}, index=names),
        "60 pictures of cars of four classes; in an online survey in 2015, people said which of three cars is the most "
        "central one.",
        "none stated; the authors ask to be cited",
        "M. Kleindessner, U. von Luxburg (2017). Lens depth function and k-relative neighborhood graph: versatile "
        "tools for ordinal data analysis. JMLR 18(58):1-52.",
    )


def _class_of(car: int) -> str:
    named = {"sports car": _SPORTS, "off-road": _OFF_ROAD, "outlier": _OUTLIERS}
    return next((name for name, members in named.items() if car in members), "ordinary car")


def fetch_things() -> Dataset:
    """Return 146,012 human answers about which of three things, of 1,854, is the odd one out.

    No rater is recorded. Two files (2 MB) are fetched once and kept in the cache; `SIMILITUDE_CACHE` says
    where that is.

    Examples
    --------
    >>> import similitude as sm
    >>> data = sm.datasets.fetch_things()  # doctest: +SKIP
    >>> print(data)  # doctest: +SKIP
    <things: 146,012 answers about 1,854 items>
    """
    import numpy as np
    import pandas as pd

    objects = pd.read_csv(fetched(THINGS_NAMES), sep="\t")
    names = objects.iloc[:, 5].astype(str).tolist()  # unique, unlike the words: bat1 and bat2
    triples = np.loadtxt(fetched(THINGS)).astype(int)
    return Dataset(
        "things",
        Comparisons.from_odd_one_out(triples, names=names),
        pd.DataFrame({"word": objects.iloc[:, 0].to_numpy()}, index=names),
        "1,854 objects of everyday life; people on Mechanical Turk were shown pictures of three and said which is the "
        "odd one out. These are the answers that the authors held out of their training.",
        "CC-BY 4.0, by M. Hebart, C. Zheng, F. Pereira and C. Baker",
        "M. Hebart, C. Zheng, F. Pereira, C. Baker (2020). Revealing the multidimensional mental representations of "
        "natural objects underlying human similarity judgements. Nature Human Behaviour 4:1173-1185.",
    )
