"""Learners: examples in, weights out."""
