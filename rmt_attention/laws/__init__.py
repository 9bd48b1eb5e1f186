"""Limiting laws as objects; see :mod:`rmt_attention.laws.attention` for the explicit ones."""

from .attention import (
    attention_law,
    compound_poisson_law,
    output_law,
    tied_output_law,
    tied_values_law,
    values_law,
)
from .spectral_law import SpectralLaw

__all__ = [
    "SpectralLaw",
    "attention_law",
    "compound_poisson_law",
    "output_law",
    "tied_output_law",
    "tied_values_law",
    "values_law",
]
