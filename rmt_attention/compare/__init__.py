"""Distances between spectra, and between spectra and laws, with standard errors over replicates."""

from .comparison import Comparison, RidgeDifference, compare
from .outlier import OutlierComparison, compare_outlier

__all__ = ["Comparison", "OutlierComparison", "RidgeDifference", "compare", "compare_outlier"]
