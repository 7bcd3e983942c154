"""`help` helps: every public name says in its own docstring what it is, takes and holds, with an example that runs."""

import doctest
import importlib
import inspect
import re
from dataclasses import is_dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from sklearn.base import BaseEstimator

import similitude as sm

ROOMS = {"": sm, "datasets.": sm.datasets, "export.": sm.export, "kernels.": sm.kernels, "plot.": sm.plot}
PUBLIC = {
    f"{prefix}{name}": getattr(room, name)
    for prefix, room in ROOMS.items()
    for name in room.__all__
    if not inspect.ismodule(getattr(room, name))
}
CLASSES = {name: value for name, value in PUBLIC.items() if inspect.isclass(value)}
WARNINGS = {name for name, value in CLASSES.items() if issubclass(value, Warning)}  # they take what Python's do
HOLD = [
    name
    for name, value in CLASSES.items()
    if issubclass(value, BaseEstimator) or (is_dataclass(value) and not issubclass(value, sm.kernels.Kernel))
]
SOURCE = Path(sm.__file__).parent
_OPENING = re.compile(r'"""(?:(?!""").)*>>>', re.DOTALL)  # a module's docstring with an example
MODULES = [path for path in sorted(SOURCE.rglob("*.py")) if _OPENING.match(path.read_text(encoding="utf-8"))]

# Attributes that a fit has only where it was asked for them.
ON_REQUEST = {
    *((name, "diagonal_") for name in ("KPOE", "MKPOE")),
    # of one linear modality alone
    *(
        (name, "components_")
        for name in ("ChoiceEmbedding", "NonNegativeEmbedding", "KPOE", "MKPOE", "RCKLAK", "RCKLMKL")
    ),
    ("GroupEmbedding", "weights_"),
    ("VectorMetric", "threshold_"),  # of pairs
}


@pytest.fixture(autouse=True)
def without_a_screen():
    plt.switch_backend("agg")


def explained(section, docstring):
    """The names that a section of a docstring explains."""
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\w+\n---|\Z)", inspect.cleandoc(docstring), re.DOTALL | re.MULTILINE)
    entries = re.findall(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : \S", found[1] if found else "", re.MULTILINE)
    return {name.lstrip("*") for names in entries for name in names.split(", ")}


def run_examples(name, docstring):
    """Run the examples of a docstring as one would type them; return the names that they leave behind."""
    test = doctest.DocTestParser().get_doctest(docstring, {}, name, None, 0)
    said = []
    doctest.DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
    assert not said, "".join(said)
    return test.globs


@pytest.mark.parametrize("name", PUBLIC)
def test_it_says_what_it_is(name):
    docstring = inspect.cleandoc(PUBLIC[name].__doc__)
    assert len(docstring.splitlines()[0]) > 10
    assert "OrdinalEmbedding" not in docstring, "it is not public: say it here"


@pytest.mark.parametrize("name", sorted(PUBLIC.keys() - WARNINGS))
def test_it_explains_every_parameter(name):
    value = PUBLIC[name]
    # What a table holds is explained as its attributes: people get one from a constructor or as a result.
    known = explained("Parameters", value.__doc__) | (explained("Attributes", value.__doc__) if name in HOLD else set())
    assert [parameter for parameter in inspect.signature(value).parameters if parameter not in known] == []


@pytest.mark.slow
@pytest.mark.own_seed  # an example shows what its own seeds give
@pytest.mark.parametrize("name", PUBLIC)
def test_its_examples_run(name):
    value = PUBLIC[name]
    assert re.search(r"^Examples\n--------\n>>> ", inspect.cleandoc(value.__doc__), re.MULTILINE)
    left = run_examples(name, value.__doc__)
    if name in HOLD:
        made = next(thing for thing in left.values() if type(thing) is value)
        attributes = explained("Attributes", value.__doc__)
        assert attributes
        lacking = {(name, one) for one in attributes if not hasattr(made, one)}
        assert lacking <= ON_REQUEST
        found = {one for one in dir(made) if one.endswith("_") and not one.startswith("_") and hasattr(made, one)}
        assert found <= attributes


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("ComparisonDataset", "parquet"),
        ("ComparisonWriter", "parquet"),
        ("PassReport", "parquet"),
        ("spread", "distributed"),
    ],
)
def test_it_names_the_extra_that_it_needs(name, extra):
    assert f"the extra `{extra}`" in PUBLIC[name].__doc__


@pytest.mark.own_seed  # figures are printed
@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(SOURCE).as_posix())
def test_examples_of_modules_run(path):
    inside = path.relative_to(SOURCE.parent).with_suffix("").parts
    module = importlib.import_module(".".join(inside).removesuffix(".__init__"))
    run_examples(module.__name__, module.__doc__)
