"""Free probability: laws combined by free convolutions, powers and compound Poisson laws, with their exact spectra."""

from .elementary import atoms, compound_poisson, free_poisson, marchenko_pastur, semicircle
from .free_law import FreeLaw

__all__ = ["FreeLaw", "atoms", "compound_poisson", "free_poisson", "marchenko_pastur", "semicircle"]
