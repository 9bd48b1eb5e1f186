"""Random-matrix theory of multi-head self-attention."""

from .compare import Comparison, compare, compare_outlier
from .errors import ConvergenceError, RmtAttentionError, UnsupportedLayerError
from .inputs import GaussianInputs, Orthonormal
from .layer import AttentionLayer, Head
from .limits import conditional_law, limit_law
from .simulation import sample_features, sample_spectrum
from .spectra import Atom, EmpiricalLaw, Estimate, SpectrumSample

__version__ = "0.1.0"

__all__ = [
    "Atom",
    "AttentionLayer",
    "Comparison",
    "ConvergenceError",
    "EmpiricalLaw",
    "Estimate",
    "GaussianInputs",
    "Head",
    "Orthonormal",
    "RmtAttentionError",
    "SpectrumSample",
    "UnsupportedLayerError",
    "compare",
    "compare_outlier",
    "conditional_law",
    "limit_law",
    "sample_features",
    "sample_spectrum",
]
