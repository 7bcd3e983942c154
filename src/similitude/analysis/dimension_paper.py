"""Sentences about non-negative dimensions for a methods section."""

from __future__ import annotations

import similitude
from similitude.display.words import counted
from similitude.evaluate.described_dimensions import DescribedDimensions


def dimensions_paragraph(found: DescribedDimensions) -> str:
    """What was fitted, how well it predicts, which dimensions come again, and how much they decide; in full sentences.

    Empty where there is no dimension, or where the model is a table of somebody else's.
    """
    about, d = found.similarity.about, len(found.table)
    data = about.get("data", {})
    if not d or not data:
        return ""
    raters = f" of {counted(data['raters'], 'rater')}" if data.get("raters") else ""
    said = [
        f"Non-negative dimensions were fitted to {counted(data['answers'], 'answer')}{raters} about "
        f"{counted(found.similarity.n_items, 'item')}, with the softmax over the dot products of pairs as the "
        "probability of an answer, a price on the values by the strength at which answers by chance teach nothing, and "
        f"their number by held-out answers ({about.get('method')} of similitude {similitude.__version__}; cf. Hebart "
        f"et al., 2020; Muttenthaler et al., 2022). {counted(d, 'dimension')} were found."
    ]
    if found.tested:
        again = int(found.table.reproducible.sum())
        said.append(f"{again} of {d} came again from other starts (mean correlation of matched dimensions).")
        if "halves" in found.table:
            median = found.table.halves.median()
            said.append(f"Between fits of two halves of the answers their median correlation was {median:.2f}.")
    if found.held_out is not None:
        said.append(str(found.held_out))
    if found.over:
        said.append(f"Shares of what the model knows of the answers have 95% intervals over {found.over}.")
    return " ".join(said)
