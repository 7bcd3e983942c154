"""Sets of human answers with the names and classes of their items: what the report is tried on."""

import pandas as pd

import similitude as sm

NAMES = ("food", "cars", "palette", "fruit", "glass", "music")


def load(name, folder):
    """Return the comparisons of a set in the folder of human answers, and a class of each item by its name."""
    sets = {"food": _food, "cars": _cars, "palette": _palette, "fruit": _fruit, "glass": _glass, "music": _music}
    return sets[name](folder)


def _food(folder):
    """Dishes, by taste: of eleven or more pictures, which are most like this one?"""
    dishes = pd.read_csv(folder / "food100" / "objects.csv")
    screens = pd.read_csv(folder / "food100" / "screens.csv").query("is_catchtrial == 0 and hit < 400")
    names = _told_apart(dishes.name.fillna(dishes.image).tolist())
    rows = [(row, row.chosen_near.split(), row.not_chosen.split()) for row in screens.astype(str).itertuples()]
    flat = [
        (k, int(row.probe), int(float(near)), int(float(far)))
        for k, (row, chosen, others) in enumerate(rows)
        for near in chosen
        for far in others
    ]
    triplets, answer = [one[1:] for one in flat], [one[0] for one in flat]
    sweet = ["sweet" if value > 60 else "not sweet" for value in dishes.sweet.fillna(0)]
    return sm.Comparisons.from_triplets(
        triplets, answer=answer, rater=screens.worker.to_numpy()[answer], names=names
    ), dict(zip(names, sweet, strict=True))


def _cars(folder):
    """Cars: which of three is in the middle of the other two?"""
    cars = pd.read_csv(folder / "car60" / "objects.csv")
    chosen = pd.read_csv(folder / "car60" / "most_central.csv")
    names = [f"car {number}" for number in cars.image_no]
    three = chosen[["central", "other1", "other2"]].to_numpy()
    made = sm.Comparisons.from_most_central(three, names=names)  # the central one comes first
    return made, dict(zip(names, cars["class"].str.replace("_", " "), strict=True))


def _palette(folder):
    """Shapes in colours, by everybody who compared every three of them."""
    table = pd.read_csv(folder / "perceptual_kernels" / "triplet_matching.csv.gz").query("palette == 'shapecolor'")
    marks = pd.read_csv(folder / "perceptual_kernels" / "objects.csv").query("palette == 'shapecolor'")
    colour = {"#1f77b4": "blue", "#ff7f0e": "orange", "#17becf": "cyan", "#d62728": "red"}
    names = [f"{colour.get(own.hex, own.hex)} {own.shape}" for own in marks.itertuples()]
    c = sm.Comparisons.from_triplets(
        table[["head", "winner", "loser"]].to_numpy(), rater=table.subject.to_numpy(), names=names
    )
    return c, dict(zip(names, marks["shape"], strict=True))


def _fruit(folder):
    """Shapes between smooth and spiny."""
    table = pd.read_csv(folder / "strangefruit30" / "triplets.csv.gz").query("alg == 'RandomSampling'")
    smooth = pd.read_csv(folder / "strangefruit30" / "objects.csv").smoothness
    names = [f"smoothness {value}" for value in smooth]
    c = sm.Comparisons.from_triplets(
        table[["head", "winner", "loser"]].to_numpy(int), rater=table.participant.to_numpy(), names=names
    )
    return c, dict(zip(names, ["smooth" if value > smooth.median() else "spiny" for value in smooth], strict=True))


def _glass(folder):
    """Glass of ten degrees of transparency: which two of four differ more?"""
    return sm.read_comparisons(folder / "mlds_quadruples" / "Transparency.csv"), {}


def _music(folder):
    """Musicians."""
    artists = pd.read_csv(folder / "music_aset400" / "objects.csv")
    triplets = pd.read_csv(folder / "music_aset400" / "triplets.csv").iloc[:, :3].to_numpy()
    names = _told_apart(artists.artist.astype(str).tolist())
    told = [len(set(row)) == 3 for row in triplets.tolist()]
    return sm.Comparisons.from_triplets(triplets[told], names=names), dict(zip(names, artists.genre, strict=True))


def _told_apart(names):
    """Names with a number where two are the same."""
    seen = {}
    return [f"{name} {seen[name]}" if seen.setdefault(name, 0) or seen.update({name: 1}) else name for name in names]
