"""Decoders: potentials in, lowest partition with its energy, a bound and a status out."""
