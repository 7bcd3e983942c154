"""The demo: simulated raters judge colours, a map is learned from their answers alone, and drawn in its colours.

Run it with `similitude demo [folder]`.
"""

from __future__ import annotations

import colorsys
from pathlib import Path

import numpy as np

from similitude import plot
from similitude.evaluate.scores import align, procrustes_distance
from similitude.feedback.files.read_write import write_comparisons
from similitude.feedback.simulation.simulate import simulate
from similitude.methods.ordinal import STE
from similitude.methods.scaling import project
from similitude.methods.similarity import Similarity
from similitude.plot.style import pyplot
from similitude.types import Floats

_SRGB_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def colours(n_items: int = 60, seed: int = 0) -> Floats:
    """(n, 3) sRGB colours between 0 and 1: hues around the circle, varied in saturation and brightness."""
    rng = np.random.default_rng(seed)
    hue = (np.arange(n_items) + 0.5 * rng.random(n_items)) / n_items
    saturation, brightness = rng.uniform(0.55, 0.95, n_items), rng.uniform(0.75, 0.95, n_items)
    return np.array([colorsys.hsv_to_rgb(*hsv) for hsv in zip(hue, saturation, brightness, strict=True)])


def hexadecimal(rgb: Floats) -> list[str]:
    """Colours as #rrggbb."""
    return ["#" + "".join(f"{round(255 * part):02x}" for part in colour) for colour in rgb]


def to_lab(rgb: Floats) -> Floats:
    """CIELAB (D65) of sRGB colours: a space in which distance is roughly how different colours look."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    white = _SRGB_TO_XYZ.sum(1)
    ratio = linear @ _SRGB_TO_XYZ.T / white
    bent = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = bent.T
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=1)


def colour_positions(colours: list[str]) -> Floats:
    """Positions of colours written #rrggbb, in which a distance of 1 is plain to see."""
    rgb = np.array([[int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)] for colour in colours])
    return to_lab(rgb) / 25.0


def main(folder: str | Path = "demo", program: str = "similitude") -> None:
    """Run the whole chain: questions, answers, fit, held-out accuracy, distance to the truth, picture.

    Parameters
    ----------
    folder : where the picture, the answers and the model go
    program : how the command line is called here, for the command to try next
    """
    rgb = colours()
    names = hexadecimal(rgb)
    truth = to_lab(rgb) / 25.0  # a difference of 25 in CIELAB is plain to see
    answers = simulate(truth, 4000, raters=20, sharpness=1.0, names=names, random_state=1)
    train, held_out = answers.split(0.2, random_state=2)
    print(f"20 simulated raters judged {len(rgb)} colours: {answers}")
    model = STE(n_components=2, random_state=0).fit(train)
    perfect = Similarity(truth, model.comparison_loss(), answers.names).score(held_out)
    flat = project(truth)
    print(f"held-out accuracy      {model.score(held_out):.3f}   (the truth itself scores {perfect:.3f}: raters err)")
    missed = procrustes_distance(model.embedding_, flat)
    print(f"distance to the truth  {missed:.3f}   (share of the variance of the true map that is missed)")
    print(f"most like {names[0]}     {', '.join(map(str, model.neighbors(names[0], 3)))}")
    where = Path(folder) / "colours.png"
    draw(align(model.embedding_, flat), rgb, where)
    model.similarity_.save(where.with_suffix(".sim"))
    write_comparisons(answers, where.with_suffix(".csv"))
    print(f"the map is in          {where}")
    print(f"the answers are in     {where.with_suffix('.csv')}")
    print(f"next, try              {program} learn {where.with_suffix('.csv')}")


def draw(positions: Floats, rgb: Floats, path: Path) -> None:
    """Draw a map with the colours themselves as markers."""
    axes = plot.embedding(positions, colors=rgb, size=260)
    axes.set_title("Learned from answers like “is A more like B or like C?” alone")
    plot.save(axes, path, dpi=150)
    pyplot().close(axes.get_figure())
