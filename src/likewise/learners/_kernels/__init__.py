"""Compiled kernels of learners; only learners import them."""
