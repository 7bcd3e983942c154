"""Kernels over features: small objects that hold the training items and apply to new ones.

Wherever a method takes `features=`, it takes an array (which means `Linear`), a kernel, or a dict of these by modality.
An item without a modality has a row of NaN there, and gets an identity row: alike to nothing but itself.

Examples
--------
>>> import similitude as sm
>>> kernel = sm.kernels.RBF([[0.0], [1.0], [3.0]])
>>> kernel.matrix().shape, kernel.cross([[2.0]]).shape
((3, 3), (1, 3))
"""

from similitude.kernels.base import Kernel
from similitude.kernels.combined import Centred, Scaled, Sum, UnitTrace
from similitude.kernels.densities import Bhattacharyya, ExpectedLikelihood
from similitude.kernels.matrices import Root, centred, psd_root, unit_trace
from similitude.kernels.modalities import as_kernel, as_modalities
from similitude.kernels.pairs import (
    MetricPairs,
    PairKernel,
    PrintedProduct,
    PrintedSum,
    ProductPairs,
    SumPairs,
    TensorPairs,
)
from similitude.kernels.precomputed import Precomputed
from similitude.kernels.vectors import RBF, ChiSquare, Cosine, Linear, Polynomial

__all__ = [
    "RBF",
    "Bhattacharyya",
    "Centred",
    "ChiSquare",
    "Cosine",
    "ExpectedLikelihood",
    "Kernel",
    "Linear",
    "MetricPairs",
    "PairKernel",
    "Polynomial",
    "Precomputed",
    "PrintedProduct",
    "PrintedSum",
    "ProductPairs",
    "Root",
    "Scaled",
    "Sum",
    "SumPairs",
    "TensorPairs",
    "UnitTrace",
    "as_kernel",
    "as_modalities",
    "centred",
    "psd_root",
    "unit_trace",
]
