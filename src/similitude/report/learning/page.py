"""The report as one self-contained HTML page: nothing is loaded from anywhere, and it reads well in print."""

from __future__ import annotations

import html
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any

import numpy as np
import pandas as pd

import similitude
from similitude.evaluate.group_difference import GroupDifference
from similitude.report.learning.atlas import FEW, atlas
from similitude.report.learning.figures import FIGURES, as_image
from similitude.report.learning.findings import Findings
from similitude.report.learning.methods import citations, paragraph
from similitude.report.learning.summary import summary

_ROWS = 200
_FIRST_OF_GROUP = 20
_SURE_COLUMNS = {
    "comparisons": "how many have the item in them",
    "radius": "how far it moves from one sample of answers to another, in units of the map",
    "share": "the same as a share of the spread of the map; at 1 nothing is known of where the item stands",
    "neighbour": "how often, among such samples, its nearest neighbour is the one on this map: at 1 always, near 0 the "
    "answers do not say which of the items around it is nearest",
}


def learning_page(
    found: Findings,
    title: str = "What people find similar",
    *,
    images: Mapping[str, Path] | None = None,
    colours: Mapping[str, str] | None = None,
    command: str | None = None,
) -> str:
    """Return findings as HTML.

    Parameters
    ----------
    found : what `learn` found
    title : of the page
    images : a picture for each item that has one, by name
    colours : a colour for each item that has one, by name, as `#rrggbb`
    command : what makes this page again
    """
    room = resources.files("similitude.report.learning")
    template = Template((room / "page.html").read_text(encoding="utf-8"))
    sections = {name: body for name, body in _sections(found, images, colours, command).items() if body}
    return template.substitute(
        title=html.escape(title),
        summary=_summary(found),
        contents="".join(f'<a href="#{_id(name)}">{name}</a>' for name in sections),
        sections="\n".join(
            f'<section id="{_id(name)}"><h2>{name}</h2>{body}</section>' for name, body in sections.items()
        ),
        script=(room / "atlas.js").read_text(encoding="utf-8"),
        version=similitude.__version__,
    )


def _sections(
    found: Findings, images: Mapping[str, Path] | None, colours: Mapping[str, str] | None, command: str | None
) -> dict[str, str]:
    return {
        "The map": _map(found, images, colours),
        "What predicts the answers": _chosen(found),
        "Can the answers be trusted?": _consistency(found),
        "More answers": _more(found),
        "How sure, and where": _sure(found),
        "Most alike": _neighbours(found),
        "How many dimensions": _dimensions(found),
        "Probabilities": _calibration(found),
        "Surprising answers": _surprises(found),
        "Raters": _raters(found),
        "Groups": _groups(found),
        "For the paper": _paper(found, command),
    }


def _summary(found: Findings) -> str:
    """The findings in a few sentences, most important first."""
    points = "".join(f"<li>{html.escape(doubt)}</li>" for doubt in found.consistency.doubts())
    doubts = f'<div class="look">Worth a look:<ul>{points}</ul></div>' if points else ""
    return f'<p class="lead">{html.escape(summary(found))}</p>{doubts}'


def _map(found: Findings, images: Mapping[str, Path] | None, colours: Mapping[str, str] | None) -> str:
    d = found.similarity.embedding.shape[1]
    flat = f" The model has {d} dimensions; these are the two of largest spread." if d > 2 else ""
    hint = " Point at an item, or move with the tab key: lines lead to those most like it."
    sure = ""
    if found.sureness is not None:
        which = "Ellipses show" if found.similarity.n_items <= FEW else "Its ellipse shows"
        sure = f" {which} where else the answers would let it stand ({found.sureness.level:.0%})."
    said = f'<p class="note">The nearer, the more alike.{flat}{hint}{sure}</p>'
    return f'<div class="map">{atlas(found, images, colours)}</div>{said}'


def _chosen(found: Findings) -> str:
    tried = found.model.tried_
    more = ""
    if len(tried):
        more = f"<details><summary>All {len(tried)} settings that were tried</summary>{_table(tried)}</details>"
    return f"<p>{html.escape(found.model.reason_)}</p>{_table(found.model.chosen_)}{more}"


def _consistency(found: Findings) -> str:
    rows = "".join(
        f'<tr><td>{html.escape(name)}</td><td class="number">{html.escape(str(figure))}</td>'
        f'<td class="note">{html.escape(figure.note)}</td></tr>'
        for name, figure in found.consistency.figures()
    )
    return f'<div class="table"><table><tbody>{rows}</tbody></table></div>'


def _more(found: Findings) -> str:
    if found.forecast is None:
        return "<p>There are too few answers to say what more would bring.</p>"
    text = (
        "Accuracy on answers held out, by answers learned from: dots are measured with one of the fits chosen, the "
        "line is expected."
    )
    drawn = _figure("learning_curve", found, text)
    return f"<p>{html.escape(repr(found.forecast))}</p>{drawn}{_table(found.forecast.table)}"


def _sure(found: Findings) -> str:
    if found.sureness is None:
        return "<p>There are too few answers to tell.</p>"
    intro = "Items whose place is least sure come first: ask about these next."
    columns = "".join(f"<dt>{name}</dt><dd>{meaning}</dd>" for name, meaning in _SURE_COLUMNS.items())
    table = f"{_table(found.sureness.needs_answers, 15)}<dl>{columns}</dl>"
    return f"<p>{html.escape(repr(found.sureness))}</p><p>{intro}</p>{table}"


def _neighbours(found: Findings) -> str:
    text = "Items in a tree: those that join early are most alike (average linkage)."
    return _figure("dendrogram", found, text) + _details("The items most like each", _table(found.neighbours))


def _dimensions(found: Findings) -> str:
    if found.dimensions is None:
        return ""
    text = "Accuracy on answers held out, by the number of dimensions; dotted: the least that is not clearly worse."
    return f"<p>{html.escape(repr(found.dimensions))}</p>{_figure('dimensions', found, text)}"


def _calibration(found: Findings) -> str:
    if found.calibration is None:
        return ""
    text = "How often the model is right, among answers of which it is so sure; on the line, it can be believed."
    said = f"On answers held out, the model's probabilities are off by {found.calibration_error:.1%} on average."
    return f"<p>{said}</p>{_figure('calibration', found, text)}"


def _surprises(found: Findings) -> str:
    said = "Called more alike: the pair <em>near</em>. The model, which knows these answers, finds them least likely."
    return f"<p>{said}</p>{_table(found.surprises)}"


def _raters(found: Findings) -> str:
    if not found.comparisons.answers.rater.recorded:
        return "<p>Who answered was not recorded, so that raters cannot be compared.</p>"
    text = "Agreement of each rater with the others, with its interval; the dotted line is chance."
    drawn = _figure("raters", found, text) + _details("Every rater", _table(found.consistency.rater_frame()))
    if found.raters is None or found.raters_gain is None:
        return drawn
    value, low, high = found.raters_gain
    verdict = (
        "it pays to know who answered" if low > 0 else "pooling them is as good" if high > 0 else "pooling is better"
    )
    said = (
        "Sharpness: how far answers follow the map; a typical rater has 1. A model that knows each rater's foretells "
        f"{_points(value)} points more of the held-out answers ({_points(low)} to {_points(high)}): {verdict}."
    )
    return f"{drawn}<p>{said}</p>{_details('The sharpness of every rater', _table(found.raters))}"


def _groups(found: Findings) -> str:
    return "".join(_group(one) for one in found.groups)


def _group(one: GroupDifference) -> str:
    rows = "".join(f"<tr><td>{html.escape(name)}</td><td>{html.escape(value)}</td></tr>" for name, value in one.lines())
    heading = f"<h3>{html.escape(one.by)}: {html.escape(', '.join(one.groups))}</h3>"
    note = (
        "A test over raters, not over answers: raters are the draws. Own group foretells better: by how much more of a "
        "rater's answers are foretold by a map of the others of the group than by one of the other group."
    )
    items, pairs = one.items.head(_FIRST_OF_GROUP), one.pairs.head(_FIRST_OF_GROUP)
    tables = _details("Items", _table(items)) + _details("Pairs", _table(pairs)) + _details("Power", _table(one.power))
    return f'{heading}<div class="table"><table><tbody>{rows}</tbody></table></div><p class="note">{note}</p>{tables}'


def _points(share: float) -> str:
    """A difference of shares in points, with its sign; what rounds to nothing has none."""
    text = f"{100 * share:+.1f}"
    return text.lstrip("+-") if float(text) == 0 else text


def _paper(found: Findings, command: str | None) -> str:
    cited = "".join(f"<li>{html.escape(text)}</li>" for text in citations(found))
    again = f"<p>The same again:</p><pre>{html.escape(command)}</pre>" if command else ""
    return f'<p class="paste">{html.escape(paragraph(found))}</p><ul class="cited">{cited}</ul>{again}'


def _figure(name: str, found: Findings, text: str) -> str:
    axes = FIGURES[name](found)
    return "" if axes is None else as_image(axes, text)


def _details(title: str, body: str) -> str:
    return f"<details><summary>{title}</summary>{body}</details>"


def _table(table: pd.DataFrame, most: int = _ROWS) -> str:
    """A table as HTML, numbers short and to the right."""
    head = "".join(f"<th>{html.escape(str(name))}</th>" for name in table.columns)
    rows = "".join(
        f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in table.head(most).itertuples(index=False)
    )
    rest = (
        f'<p class="note">{len(table) - most:,} more rows are in the tables beside this page.</p>'
        if len(table) > most
        else ""
    )
    return f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{rest}'


def _cell(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)):
        return f"<td>{'yes' if value else ''}</td>"
    if isinstance(value, (int, np.integer)):
        return f'<td class="number">{value:,}</td>'
    if isinstance(value, (float, np.floating)):
        return f'<td class="number">{"" if not np.isfinite(value) else f"{value:.3g}"}</td>'
    return f"<td>{html.escape(str(value))}</td>"


def _id(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-")
