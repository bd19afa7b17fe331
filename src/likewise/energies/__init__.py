"""Energies: numbers for a set and a partition of it, linear in the weights, always minimised."""
