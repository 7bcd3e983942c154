"""On people's answers, no method falls behind the recorded accuracy of its counterpart in cblearn."""

import importlib.util
import json

import numpy as np
import pytest

import similitude as sm


def load_splits(data):
    spec = importlib.util.spec_from_file_location("splits", data / "splits.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.own_seed  # the splits of the recorded figures
@pytest.mark.filterwarnings("ignore::similitude.methods.base.FeedbackWarning")  # a few artists are not in a small split
@pytest.mark.parametrize("method", [sm.STE, sm.TSTE, sm.CKL, sm.SOE, sm.GNMDS], ids=lambda method: method.__name__)
@pytest.mark.parametrize(("name", "n_components"), [("car60", 2), ("strangefruit30", 2), ("music_aset400", 5)])
def test_no_worse_than_cblearn(method, name, n_components, data):
    splits = load_splits(data)
    recorded = json.loads((data / "cblearn_baselines.json").read_text(encoding="utf-8"))
    triplets, answers = splits.load(name, data)
    ours, theirs = [], []
    for seed in (0, 1):
        train, test = splits.split(triplets, answers, 2000, seed)
        model = method(n_components, n_items=int(triplets.max()) + 1, random_state=0).fit(train)
        ours.append(model.score(test))
        key = {"data": name, "m": 2000, "seed": seed, "d": n_components, "method": method.__name__}
        theirs.append(next(row["accuracy"] for row in recorded if row.items() >= key.items()))
    assert np.mean(ours) > np.mean(theirs) - 0.01


def test_held_out_screens_of_food_are_predicted(data):
    c = sm.read_comparisons(data / "food100" / "screens.csv")
    train, test = c.split(0.2, random_state=0)
    train = train.select(np.arange(train.n_answers) < 1500)
    assert sm.CKL(5, random_state=0).fit(train).score(test) > 0.78
