"""The engine on a device of PyTorch's: formulas lowered to torch and Triton, comparisons on the device, solvers there.

Beside it `similitude.torch` alone imports torch; `similitude.engine.devices` decides whether this package is used.
"""
