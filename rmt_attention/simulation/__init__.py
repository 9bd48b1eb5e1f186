"""Arrays from descriptions: random layers, their softmax heads and Gaussian equivalents. Knows nothing of laws."""

from .models import MODELS
from .sampling import OBSERVABLES, sample_features, sample_spectrum
from .softmax import softmax_rows

__all__ = ["MODELS", "OBSERVABLES", "sample_features", "sample_spectrum", "softmax_rows"]
