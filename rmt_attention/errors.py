"""Exceptions raised by the package."""

from __future__ import annotations


class RmtAttentionError(Exception):
    """Base class of every error that is specific to this package."""


class UnsupportedLayerError(RmtAttentionError, ValueError):
    """A layer has no limiting law here; the message names the field and its value."""


class ConvergenceError(RmtAttentionError, RuntimeError):
    """A solve did not reach its tolerance.

    Attributes
    ----------
    result : object
        What the solver had when it gave up: values, residuals and a status sentence.
    """

    def __init__(self, message: str, result: object = None) -> None:
        super().__init__(message)
        self.result = result
