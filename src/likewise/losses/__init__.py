"""Losses: how far a proposed partition is from the shown one, and how to fold that into costs."""
