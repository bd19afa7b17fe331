"""Estimators: the scikit-learn face of the library."""

from likewise.estimators.exemplar import ExemplarClusterer

__all__ = ["ExemplarClusterer"]
