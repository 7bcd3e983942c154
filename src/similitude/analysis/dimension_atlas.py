"""An atlas of dimensions: a self-contained page, with tables, figures for print and the model beside it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import similitude
from similitude.analysis.columns import explained
from similitude.analysis.dimension_paper import dimensions_paragraph
from similitude.analysis.dimension_tiles import shown_dimensions
from similitude.analysis.whole_folder import all_at_once, remove_earlier
from similitude.display.pictures import pictures_in
from similitude.display.templates import templates
from similitude.evaluate.described_dimensions import DescribedDimensions
from similitude.feedback.files.whole import write_whole
from similitude.methods.explanation import Explanation
from similitude.methods.tables_out import separated
from similitude.plot.dimensions import deciding, dimension_tiles
from similitude.plot.letters import boxes_told_once
from similitude.plot.style import PAGE, drawn_for, in_page, pyplot, save_as

PAGE_NAME = "dimensions.html"
_ON_SHEET = 6  # dimensions on a figure
_THOUSANDTHS = 1000
_REASONS = 4
_SOMETIMES = (  # what an atlas has or has not, by what is known of its dimensions
    "figures/dimensions_[0-9]*_to_[0-9]*.*", "figures/deciding.*", "tables/dimension_attributes.csv",
)  # fmt: skip


def dimensions_page(
    found: DescribedDimensions,
    title: str = "Why things are alike",
    *,
    images: Mapping[str, Path] | None = None,
    command: str | None = None,
    files: Sequence[str] = (),
) -> str:
    """Return described dimensions as one self-contained HTML page.

    Parameters
    ----------
    found : of `describe_dimensions`
    title : of the page
    images : a picture for each item that has one, by name
    command : what makes this page again
    files : what lies beside the page, to which it has links
    """
    decides = "share" in found.table and found.table.share.notna().any()
    with drawn_for(None):
        picture = in_page(deciding(found)) if decides else None
    page = templates("similitude.analysis").get_template("dimensions.html")
    return page.render(
        title=title,
        found=found,
        sentences=found.sentences(),
        shown=shown_dimensions(found, images),
        picture=picture,
        example=example(found),
        data=_data(found),
        paper=dimensions_paragraph(found),
        command=command,
        files=files,
        version=similitude.__version__,
    )


def example(found: DescribedDimensions) -> tuple[Explanation, str, list[tuple[str, str]]] | None:
    """An answer that the first dimensions explain, the odd item, and what speaks for it; None without two of them."""
    if len(found.table) < 2:
        return None
    first, second = (found.top(number, 3).item.tolist() for number in found.table.dimension[:2])
    odd = next((name for name in second if name not in first), None)
    if odd is None or len(first) < 2:
        return None
    why = found.why(first[0], first[1], odd)
    order = np.argsort(-why.shares, kind="stable")[:_REASONS].tolist()
    return why, odd, [(why.features[k], f"{why.shares[k]:.0%}") for k in order if why.shares[k] >= 0.005]


def _data(found: DescribedDimensions) -> dict[str, Any]:
    """What the page's script knows: the values of the whole model, in thousandths."""
    kept = found.kept.tolist()
    labels = dict(zip(kept, found.labels, strict=True))
    d = found.similarity.embedding.shape[1]
    return {
        "items": found.items,
        "labels": [labels.get(k, f"{k + 1}  (left out)") for k in range(d)],
        "values": np.rint(_THOUSANDTHS * found.similarity.embedding).astype(int).tolist(),
        "unit": _THOUSANDTHS,
    }


@boxes_told_once()
def write_dimensions(
    found: DescribedDimensions,
    folder: str | os.PathLike[str],
    title: str = "Why things are alike",
    *,
    images: Mapping[str, Path] | str | os.PathLike[str] | None = None,
    figure_width: float | None = None,
    command: str | None = None,
) -> Path:
    """Write an atlas of dimensions into a folder: one page, with tables, figures for print and the model beside it.

    Parameters
    ----------
    found : of `describe_dimensions`
    folder : to write into, made where it is not there; figures and tables of an earlier atlas go, all else stays
    title : of the page
    images : a picture (its path) for each item that has one, by name; or a folder of files that are named as the items
    figure_width : of the figures in millimetres: 89 and 183 are a column and a page of most journals
    command : what makes the page again

    Returns
    -------
    the path of the page

    Examples
    --------
    >>> import tempfile, numpy as np, pandas as pd, similitude as sm
    >>> names = ["cup", "glass", "jug", "ball", "wheel", "coin"]
    >>> model = pd.DataFrame(np.kron(np.eye(2), np.ones((3, 1))), index=names)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sm.write_dimensions(sm.describe_dimensions(model), folder).name
    'dimensions.html'
    """
    folder = Path(folder)
    if images is not None and not isinstance(images, Mapping):
        images = pictures_in(images, found.items)
    with all_at_once(folder, PAGE_NAME) as new:
        for part in ("figures", "tables"):
            (new / part).mkdir()
        found.similarity.save(new / "model.sim")
        files = ["model.sim", *_write_tables(found, new), *_write_figures(found, new, images, figure_width)]
        page = dimensions_page(found, title, images=images, command=command, files=files)
        write_whole(new / PAGE_NAME, page.encode())
    earlier = {file.relative_to(folder).as_posix() for pattern in _SOMETIMES for file in folder.glob(pattern)}
    remove_earlier(folder, earlier - {*files})
    return folder / PAGE_NAME


def _write_tables(found: DescribedDimensions, folder: Path) -> list[str]:
    made = {"named_dimensions": found.table, "dimension_values": found.value_table()}
    if found.attributes is not None:
        made["dimension_attributes"] = found.attributes
    made["columns"] = explained({name: map(str, table.columns) for name, table in made.items()})
    for name, table in made.items():
        write_whole(folder / f"tables/{name}.csv", separated(table, index=False).encode())
    return [f"tables/{name}.csv" for name in made]


def _write_figures(
    found: DescribedDimensions, folder: Path, images: Mapping[str, Path] | None, width: float | None
) -> list[str]:
    """Tiles of six dimensions on a sheet, and how much each decides, as vectors and as pictures."""
    numbers = found.table.dimension.tolist()
    sheets = [numbers[k : k + _ON_SHEET] for k in range(0, len(numbers), _ON_SHEET)]
    written = []
    with drawn_for(width):
        drawn = {
            f"dimensions_{own[0]}_to_{own[-1]}": dimension_tiles(found, own, images=images, width=width or PAGE)
            for own in sheets
        }
        if "share" in found.table and found.table.share.notna().any():
            drawn["deciding"] = deciding(found)
        for name, axes in drawn.items():
            paths = [f"figures/{name}.{kind}" for kind in ("pdf", "png")]
            save_as(axes, [folder / path for path in paths], width=width)
            pyplot().close(axes.get_figure(root=True))
            written += paths
    return written
