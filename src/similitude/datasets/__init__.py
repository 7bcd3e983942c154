"""Data to play with: small sets that come with the package (`load_...`), and human ones fetched once (`fetch_...`).

`load_colours` holds answers of simulated raters in two groups, two of whom click at random; `load_products` has clicks
of simulated customers, and vectors of the products. `fetch_cars` and `fetch_things` get human judgments from where
their authors published them, check that they are what they should be, and keep them on your disk.

Examples
--------
>>> import similitude as sm
>>> data = sm.datasets.load_colours()
>>> data
<colours: 1,800 answers about 24 items by 20 raters>
>>> model = sm.STE(n_components=2, random_state=0).fit(data.answers)
>>> model.neighbors("navy", 2)
['purple', 'indigo']
"""

from similitude.datasets.dataset import Dataset
from similitude.datasets.human import fetch_cars, fetch_things
from similitude.datasets.simulated import load_colours, load_products

__all__ = ["Dataset", "fetch_cars", "fetch_things", "load_colours", "load_products"]
