"""Random-matrix theory of multi-head self-attention."""

from .errors import ConvergenceError, RmtAttentionError, UnsupportedLayerError
from .inputs import GaussianInputs, Orthonormal
from .layer import AttentionLayer, Head
from .spectra import Atom, EmpiricalLaw, Estimate, SpectrumSample

__version__ = "0.1.0"

__all__ = [
    "Atom",
    "AttentionLayer",
    "ConvergenceError",
    "EmpiricalLaw",
    "Estimate",
    "GaussianInputs",
    "Head",
    "Orthonormal",
    "RmtAttentionError",
    "SpectrumSample",
    "UnsupportedLayerError",
]
