"""Laws of free probability against other packages, side by side."""
