"""What type checkers see of the package is what it is at run time: the same names, from the same homes."""

import ast
from pathlib import Path
from typing import get_args

import similitude as sm
from similitude.analysis.choice import METHODS, MethodName

STUB = ast.parse(Path(sm.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))


def exported():
    """The module of each name that the stub exports, by name; a name is exported by `import name as name`."""
    imports = [node for node in STUB.body if isinstance(node, ast.ImportFrom)]
    return {name.asname: node.module for node in imports for name in node.names if name.asname == name.name}


def test_the_public_names_are_those_of_the_stub():
    assert exported() == sm._HOME
    assert len(sm._HOME) > 80


def test_the_stub_has_nothing_else_but_the_version():
    assert all(isinstance(node, (ast.ImportFrom, ast.AnnAssign, ast.Expr)) for node in STUB.body)
    declared = {node.target.id for node in STUB.body if isinstance(node, ast.AnnAssign)}
    assert declared == {"__version__", "__all__"}
    assert isinstance(sm.__version__, str)
    assert set(sm.__all__) == set(exported())


def test_each_name_lives_where_it_is_said_to():
    own = {name: home for name, home in sm._HOME.items() if home != "similitude"}
    assert [name for name, home in own.items() if getattr(sm, name).__module__ != home] == []


def test_the_methods_that_learn_takes_are_those_of_its_type():
    assert get_args(MethodName) == tuple(METHODS)


def test_the_types_are_shipped():
    assert Path(sm.__file__).with_name("py.typed").is_file()
