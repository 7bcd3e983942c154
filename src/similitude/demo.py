"""The demo: simulated raters judge colours, a map is learned from their answers alone, and a report says it all.

Run it with `similitude demo [folder]`.
"""

from __future__ import annotations

import colorsys
from pathlib import Path

import numpy as np

from similitude import plot
from similitude.analysis.learn import Findings, learn
from similitude.analysis.phases import Step
from similitude.evaluate.scores import align, procrustes_distance
from similitude.feedback.files.read_write import write_comparisons
from similitude.feedback.simulation.simulate import simulate
from similitude.methods.scaling import project
from similitude.methods.similarity import Similarity
from similitude.plot.style import pyplot
from similitude.types import Floats

_SRGB_TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
SECONDS = 20.0  # the most that finding out all of the report may take; a quiet machine needs four


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


def main(folder: str | Path = "demo", program: str = "similitude", step: Step | None = None) -> None:
    """Run the whole chain: questions, answers, a model, how well it predicts, its picture, and the report.

    Parameters
    ----------
    folder : where the picture, the answers and the report go
    program : how the command line is called here, for the command to try next
    step : told how far the report is, as of `learn`
    """
    rgb = colours()
    names = hexadecimal(rgb)
    truth = to_lab(rgb) / 25.0  # a difference of 25 in CIELAB is plain to see
    answers = simulate(truth, 4000, raters=20, sharpness=1.0, names=names, random_state=1)
    print(f"20 simulated raters judged {len(rgb)} colours: {answers}")
    found = learn(answers, method="STE", n_components=2, time_limit=SECONDS, random_state=0, step=step)
    if step is not None:
        step("writing the report", 0, 0)
    _say(found, truth)
    file, picture = Path(folder) / "colours.csv", Path(folder) / "colours.png"
    draw(align(found.similarity.embedding, project(truth)), rgb, picture)
    write_comparisons(answers, file)
    own = dict(zip(names, names, strict=True))
    report = found.save(Path(folder) / "report", "What people find similar: colours", colours=own, source=[file.name])
    print(f"the map is in          {picture}")
    print(f"the answers are in     {file}")
    print(f"the report is in       {report}   (open it in a browser; model, tables and figures are beside it)")
    print(f"next, try              {program} learn {file}")


def _say(found: Findings, truth: Floats) -> None:
    """Say how well the model predicts, beside the truth, and how near to the truth its map is."""
    similarity, a = found.similarity, found.accuracy
    assert similarity.names is not None
    perfect = Similarity(truth, found.model.members_[0].comparison_loss(), similarity.names).score(found.comparisons)
    print(f"held-out accuracy      {a.value:.3f}   (the true colours predict {perfect:.3f}: raters err)")
    missed = procrustes_distance(similarity.embedding, project(truth))
    print(f"distance to the truth  {missed:.3f}   (share of the variance of the true map that is missed)")
    first = similarity.names[0]
    print(f"most like {first}     {', '.join(map(str, similarity.neighbors(first, 3)))}")


def draw(positions: Floats, rgb: Floats, path: Path) -> None:
    """Draw a map with the colours themselves as markers."""
    axes = plot.embedding(positions, colors=rgb, size=260)
    axes.set_title("Learned from answers like “is A more like B or like C?” alone")
    plot.save(axes, path, dpi=150)
    pyplot().close(axes.get_figure())
