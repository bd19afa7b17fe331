"""Experiments: the claims of the papers, and those of the library, as figures that anyone can get.

An experiment is a list of cells; every cell is computed on its own, from its settings alone.
"""
