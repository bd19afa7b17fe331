"""Parallel: the same results whatever computes them."""
