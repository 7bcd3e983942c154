"""Settings are declared in the class of a method, and its constructor is made of them."""

import inspect

import pytest
from sklearn.base import clone

import similitude as sm


class Preset(sm.CKL):
    """A method of somebody's own.

    Parameters
    ----------
    zeal : how hard it tries
    """

    zeal: float = 1.0
    mu: float = 0.2
    found_: int

    def comparison_loss(self):
        return super().comparison_loss()


class Own(sm.STE):
    """A method with a constructor of its own."""

    def __init__(self, size=3):
        super().__init__(size, random_state=0)
        self.size = size


def test_a_subclass_declares_what_is_new_and_what_differs():
    model = Preset(3, zeal=2.0)
    assert (model.n_components, model.zeal, model.mu, model.penalty) == (3, 2.0, 0.2, "auto")
    assert set(Preset().get_params()) == set(sm.CKL().get_params()) | {"zeal"}
    assert clone(model).get_params() == model.get_params()
    assert repr(model) == "Preset(n_components=3, zeal=2.0)"
    assert not hasattr(model, "found_")  # declared without a value: it is found by a fit


def test_what_a_class_declares_itself_comes_first_in_help():
    assert list(inspect.signature(Preset).parameters)[:4] == ["n_components", "zeal", "mu", "penalty"]
    told = Preset.__doc__
    assert told.index("n_components :") < told.index("zeal :") < told.index("mu :") < told.index("penalty :")


def test_only_dimensions_come_without_a_name():
    with pytest.raises(TypeError, match="positional"):
        Preset(2, 1.0)
    with pytest.raises(TypeError, match="unexpected keyword argument 'zest'"):
        Preset(zest=1.0)


def test_a_constructor_of_its_own_stays():
    model = Own(2)
    assert model.get_params() == {"size": 2}
    assert (model.n_components, model.random_state, model.tol) == (2, 0, sm.STE().tol)
