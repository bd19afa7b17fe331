"""The experiments by name; a module is loaded when its experiment is asked for."""

from __future__ import annotations

import importlib

from likewise.errors import InputError
from likewise.experiments.base import Experiment

# Name -> module, which holds EXPERIMENT.
MODULES = {
    "komodakis-synthetic": "likewise.experiments.komodakis_synthetic",
    "unseen-classes": "likewise.experiments.unseen_classes",
    "transfer": "likewise.experiments.transfer",
    "lajugie-synthetic": "likewise.experiments.lajugie_synthetic",
    "segmentation-families": "likewise.experiments.segmentation_families",
}


def experiment_named(name: str) -> Experiment:
    """Return one experiment.

    Parameters
    ----------
    name : str
        One of `MODULES`.

    Returns
    -------
    Experiment

    Examples
    --------
    >>> from likewise.experiments.registry import experiment_named
    >>> experiment_named("transfer").name
    'transfer'
    """
    if name not in MODULES:
        raise InputError(f"there is no experiment {name!r}; there are {', '.join(MODULES)}.")
    found: Experiment = importlib.import_module(MODULES[name]).EXPERIMENT
    return found
