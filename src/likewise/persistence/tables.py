"""The closed table of classes that a model file may hold.

A file names a class; the table says where that class lives, which parameters its constructor takes,
which attributes `fit` gives it and what each of them may be. A name that is not here is refused
before anything is imported. Adding a class is adding one entry.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from likewise.errors import ModelFileError

# NumPy scalars by the name of their type, and the kind of plain value that they count as.
SCALAR_KINDS: Final[dict[str, str]] = {
    "bool": "bool",
    **dict.fromkeys(("int8", "int16", "int32", "int64"), "int"),
    **dict.fromkeys(("uint8", "uint16", "uint32", "uint64"), "int"),
    **dict.fromkeys(("float16", "float32", "float64"), "float"),
    "str": "str",
}
INTEGERS: Final = range(-(2**63), 2**64)


@dataclass(frozen=True)
class Field:
    """What one parameter or attribute may be.

    Parameters
    ----------
    kinds : tuple of str
        Any of ``"None"``, ``"bool"``, ``"int"``, ``"float"``, ``"str"`` (NumPy scalars count as
        these), ``"list"``, ``"tuple"``, ``"dict"`` (keys are text), ``"slice"`` (of integers),
        ``"array"``, ``"names"`` (a one-dimensional object array of text), or a class in `TABLE`.
    items : Field, default=None
        What the items of a list, tuple or dict may be.
    dtypes : str, default="biuf"
        The dtype kinds of an array.
    shape : tuple of str, default=None
        One word per axis of an array, or one for a list. The same word is the same length in all
        attributes of a model; ``"*"`` is any length. None allows every shape.
    size : str, default=None
        The length that an integer states, as a word of `shape`.
    entries : tuple of (int, str), default=None
        Smallest entry of an integer array, and the word that every entry stays below.
    optional : bool, default=False
        Whether it may be absent from the file.
    remedy : str, default=""
        What to do where a value is not allowed.
    """

    kinds: tuple[str, ...]
    items: Field | None = None
    dtypes: str = "biuf"
    shape: tuple[str, ...] | None = None
    size: str | None = None
    entries: tuple[int, str] | None = None
    optional: bool = False
    remedy: str = ""

    @property
    def allowed(self) -> str:
        """The kinds, for a message."""
        return " or ".join(self.kinds) or "nothing"

    def refusal(self, where: str, found: str) -> ModelFileError:
        """The error for a value that is not allowed."""
        text = f"{where} is {found}, but a model file keeps only {self.allowed} there"
        return ModelFileError(f"{text}; {self.remedy}" if self.remedy else text)


@dataclass(frozen=True)
class Entry:
    """One class: its module, constructor parameters and fitted attributes."""

    module: str
    params: Mapping[str, Field]
    fitted: Mapping[str, Field] = field(default_factory=dict)

    def resolve(self, name: str) -> type[Any]:
        """Import the class of this entry; `name` is its key in the table."""
        found: type[Any] = getattr(importlib.import_module(self.module), name)
        return found


def find_class(value: object) -> str | None:
    """Name of the table entry for the class of a value, subclasses excluded.

    Examples
    --------
    >>> from likewise.persistence.tables import find_class
    >>> find_class("text") is None
    True
    """
    for name, entry in TABLE.items():
        # An instance exists, so the module of its class is loaded; the others stay unloaded.
        module = sys.modules.get(entry.module)
        if module is not None and type(value) is getattr(module, name, None):
            return name
    return None


_TEXT = Field(("str",))
_NUMBER = Field(("int", "float"))
# What `set_output` leaves on any estimator, fitted or not.
_OUTPUT = {"_sklearn_output_config": Field(("dict",), items=_TEXT, optional=True)}
_NUMBER_OR_WORD = Field(("int", "float", "str"))
_COUNT = Field(("int",))
_FLOAT = Field(("float",))
_MAYBE_COUNT = Field(("None", "int"))
_NUMBERS_REMEDY = "give a list of numbers or a NumPy array of them"
_COMPARE_REMEDY = (
    "name one of the built-in distances, or compute the matrix yourself and fit with "
    "features='precomputed'"
)

_COMPARE = Entry(
    module="likewise.geometry.compare",
    params={
        "name": _TEXT,
        "distance": Field(("str",), remedy=_COMPARE_REMEDY),
        "columns": Field(("None", "slice", "list"), items=Field(("int", "str"))),
        "local_scale": Field(("None", "int")),
    },
)

# Parameters that several estimators share.
_FEATURES = Field(
    ("str", "Compare", "list", "tuple"), items=Field(("Compare",)), remedy=_COMPARE_REMEDY
)
_SEED = Field(("None", "int"), remedy="give an integer seed, or None")
_CALLBACKS = Field(("None",), remedy="set callbacks=None before saving")
_STEP = Field(("None", "int", "float"), remedy="set step=None before saving: what was learnt stays")
_CHECKPOINT = Field(
    ("None", "str"), remedy="give the path as text, or set checkpoint=None before saving"
)
_TRANSFORMER_REMEDY = (
    "learn with features='windows', 'hermite', WindowFeatures or HermiteFeatures, or transform the "
    "sequences yourself and learn with features=None"
)
# Columns of equal length, as attributes that record something keep it.
_RECORDS = Field(
    ("dict",), items=Field(("list",), items=Field(("None", "bool", "int", "float", "str")))
)
_COLUMN_NAMES = Field(("names",), shape=("p",), optional=True)

_EXEMPLAR_CLUSTERER = Entry(
    module="likewise.estimators.exemplar",
    params={
        "features": _FEATURES,
        "weights": Field(
            ("None", "int", "float", "list", "tuple", "array"),
            items=_NUMBER,
            remedy=_NUMBERS_REMEDY,
        ),
        "opening_cost": Field(
            ("str", "int", "float", "list", "tuple", "array"), items=_NUMBER, remedy=_NUMBERS_REMEDY
        ),
        "candidates": _MAYBE_COUNT,
        "paths": Field(("None", "int", "float"), optional=True),
        "solver": _TEXT,
        "gap": _NUMBER,
        "time_limit": Field(("None", "int", "float")),
        "n_jobs": _MAYBE_COUNT,
        "random_state": _SEED,
        "callbacks": _CALLBACKS,
    },
    fitted={
        "labels_": Field(("array",), dtypes="iu", shape=("n",), entries=(-1, "k")),
        "exemplars_": Field(("array",), dtypes="iu", shape=("k",), entries=(0, "n")),
        "n_clusters_": Field(("int",), size="k"),
        "energy_": _FLOAT,
        "lower_bound_": _FLOAT,
        "gap_": _FLOAT,
        "bound_scope_": _TEXT,
        "status_": _TEXT,
        "n_iter_": _COUNT,
        "opening_cost_": Field(("int", "float", "array"), dtypes="iuf", shape=("n",)),
        "history_": _RECORDS,
        "n_features_in_": Field(("int",), size="p"),
        "feature_names_in_": _COLUMN_NAMES,
        "exemplar_rows_": Field(("array",), dtypes="f", shape=("k", "p"), optional=True),
        "reference_rows_": Field(("array",), dtypes="f", shape=("m", "p"), optional=True),
        "waypoints_": Field(("array",), dtypes="iu", shape=("w",), entries=(0, "n"), optional=True),
        "waypoint_rows_": Field(("array",), dtypes="f", shape=("w", "p"), optional=True),
        "path_lengths_": Field(("array",), dtypes="f", shape=("w", "k"), optional=True),
        "path_step_": Field(("float",), optional=True),
    }
    | _OUTPUT,
)

_EXEMPLAR_LEARNER = Entry(
    module="likewise.estimators.exemplar_learner",
    params={
        "features": _FEATURES,
        "regulariser": Field(
            ("str", "L1", "L2", "Towards"),
            remedy="set regulariser='auto' before saving: what was learnt stays",
        ),
        "strength": _NUMBER_OR_WORD,
        "alpha": _NUMBER,
        "beta": _NUMBER,
        "opening_cost": _NUMBER_OR_WORD,
        "opening_features": Field(
            ("None", "slice", "list", "tuple", "array", "names"),
            items=Field(("int", "str", "array")),
            remedy="give columns, or a list of NumPy arrays",
        ),
        "constraint": Field(
            ("str", "Nonnegative", "SumTo"),
            remedy="set constraint='nonnegative' before saving: what was learnt stays",
        ),
        "optimiser": _TEXT,
        "step": _STEP,
        "rounds": _COUNT,
        "paths": Field(("None", "str", "int", "float")),
        "local_scale": Field(("None", "str", "int")),
        "size_exponent": _NUMBER_OR_WORD,
        "max_iter": _COUNT,
        "tol": _NUMBER,
        "n_jobs": _MAYBE_COUNT,
        "random_state": _SEED,
        "callbacks": _CALLBACKS,
        "checkpoint": _CHECKPOINT,
    },
    fitted={
        "weights_": Field(("array",), dtypes="f", shape=("F",)),
        "feature_names_": Field(("list",), items=_TEXT, shape=("F",)),
        "feature_means_": Field(("array",), dtypes="f", shape=("F",)),
        "opening_cost_": _NUMBER,
        "opening_factor_": _NUMBER,
        "opening_weights_": Field(("array",), dtypes="f", shape=("g",)),
        "opening_means_": Field(("array",), dtypes="f", shape=("g",)),
        "clusterer_": Field(("ExemplarClusterer",)),
        "paths_": Field(("None", "int", "float")),
        "local_scale_": _MAYBE_COUNT,
        "size_exponent_": _NUMBER,
        "n_rows_seen_": Field(("list",), items=_COUNT),
        "n_clusters_seen_": _NUMBER,
        "cluster_sizes_seen_": Field(("list",), items=_NUMBER),
        "objective_": _FLOAT,
        "lower_bound_": _FLOAT,
        "gap_": _FLOAT,
        "validation_": _RECORDS,
        "held_out_": _TEXT,
        "chosen_": _TEXT,
        "agreement_": _FLOAT,
        "history_": _RECORDS,
        "status_": _TEXT,
        "n_iter_": _COUNT,
        "n_features_in_": Field(("int",), size="p"),
        "feature_names_in_": _COLUMN_NAMES,
    },
)

_CHANGE_POINT_DETECTOR = Entry(
    module="likewise.estimators.change_points",
    params={
        "metric": Field(
            ("None", "list", "tuple", "array"),
            items=Field(("int", "float", "list"), items=_NUMBER),
            remedy=_NUMBERS_REMEDY,
        ),
        "penalty": _NUMBER,
        "n_segments": _MAYBE_COUNT,
        "kernel": Field(("None", "str"), remedy="name a kernel, or fit with kernel='precomputed'"),
        "min_size": _COUNT,
    },
    fitted={
        "labels_": Field(("array",), dtypes="iu", shape=("n",), entries=(0, "n")),
        "change_points_": Field(("array",), dtypes="iu", shape=("c",), entries=(0, "n")),
        "cost_": _FLOAT,
        "n_features_in_": Field(("int",), size="p"),
        "feature_names_in_": _COLUMN_NAMES,
    },
)

_CHANGE_POINT_LEARNER = Entry(
    module="likewise.estimators.change_point_learner",
    params={
        "metric": _TEXT,
        "regulariser": _TEXT,
        "strength": _NUMBER_OR_WORD,
        "loss": _TEXT,
        "n_segments": Field(("None", "str")),
        "features": Field(
            ("None", "str", "HermiteFeatures", "WindowFeatures"), remedy=_TRANSFORMER_REMEDY
        ),
        "penalty": _TEXT,
        "criterion": _TEXT,
        "optimiser": _TEXT,
        "step": _STEP,
        "completion_start": _TEXT,
        "max_iter": _COUNT,
        "tol": _NUMBER,
        "n_jobs": _MAYBE_COUNT,
        "random_state": _SEED,
        "callbacks": _CALLBACKS,
        "checkpoint": _CHECKPOINT,
    },
    fitted={
        "metric_": Field(("array",), dtypes="f", shape=("F", "F")),
        "weights_": Field(("array",), dtypes="f", shape=("F",)),
        "penalty_": _NUMBER,
        "detector_": Field(("ChangePointDetector",)),
        "feature_names_": Field(("list",), items=_TEXT, shape=("F",)),
        "look_": _TEXT,
        "transformer_": Field(
            ("None", "HermiteFeatures", "WindowFeatures"), remedy=_TRANSFORMER_REMEDY
        ),
        "rows_per_block_": _COUNT,
        "n_blocks_seen_": Field(("list",), items=_COUNT),
        "typical_blocks_": _NUMBER,
        "label_cost_": _NUMBER,
        "penalty_regressor_": Field(("None", "PenaltyRegressor")),
        **dict.fromkeys(("criterion_", "judged_by_", "validated_by_"), _TEXT),
        **dict.fromkeys(("training_loss_", "one_segment_loss_"), _FLOAT),
        **dict.fromkeys(("objective_", "lower_bound_", "gap_"), _FLOAT),
        "validation_": _RECORDS,
        "features_validation_": _RECORDS,
        "chosen_": _TEXT,
        "history_": _RECORDS,
        "status_": _TEXT,
        **dict.fromkeys(("n_iter_", "n_decoder_calls_"), _COUNT),
        "n_features_in_": Field(("int",), size="p"),
        "feature_names_in_": _COLUMN_NAMES,
    },
)

_PENALTY_REGRESSOR = Entry(
    module="likewise.estimators.penalty_regressor",
    params={"regulariser": _TEXT, "strength": _NUMBER_OR_WORD, "margin": _NUMBER},
    fitted={
        "coef_": Field(("array",), dtypes="f", shape=("p",)),
        "intercept_": _FLOAT,
        "strength_": _FLOAT,
        "n_iter_": _COUNT,
        "n_features_in_": Field(("int",), size="p"),
        "feature_names_in_": _COLUMN_NAMES,
    },
)

_HERMITE_FEATURES = Entry(
    module="likewise.transformers.hermite",
    params={
        "degree": _COUNT,
        "widths": Field(("list", "tuple", "array"), items=_NUMBER, remedy=_NUMBERS_REMEDY),
        "clip": Field(("None", "int", "float")),
        "scale": _TEXT,
    },
    fitted={
        "medians_": Field(("array",), dtypes="f", shape=("p",)),
        "scales_": Field(("array",), dtypes="f", shape=("p",)),
        "n_features_in_": Field(("int",), size="p"),
        "feature_names_in_": _COLUMN_NAMES,
    }
    | _OUTPUT,
)

_WINDOW_FEATURES = Entry(
    module="likewise.transformers.windows",
    params={"width": _MAYBE_COUNT, "wide": Field(("None", "int", "float"))},
    fitted={
        "width_": _COUNT,
        "wide_width_": _MAYBE_COUNT,
        "means_": Field(("array",), dtypes="f", shape=("p",)),
        "scales_": Field(("array",), dtypes="f", shape=("p",)),
        "step_scales_": Field(("array",), dtypes="f", shape=("p",)),
        "n_features_in_": Field(("int",), size="p"),
        "feature_names_in_": _COLUMN_NAMES,
    }
    | _OUTPUT,
)

_REGULARISERS: Final = "likewise.learners.regularisers"

TABLE: Final[dict[str, Entry]] = {
    "ChangePointDetector": _CHANGE_POINT_DETECTOR,
    "ChangePointLearner": _CHANGE_POINT_LEARNER,
    "Compare": _COMPARE,
    "ExemplarClusterer": _EXEMPLAR_CLUSTERER,
    "ExemplarLearner": _EXEMPLAR_LEARNER,
    "HermiteFeatures": _HERMITE_FEATURES,
    "PenaltyRegressor": _PENALTY_REGRESSOR,
    "WindowFeatures": _WINDOW_FEATURES,
    "L1": Entry(_REGULARISERS, {}),
    "L2": Entry(_REGULARISERS, {}),
    "Towards": Entry(_REGULARISERS, {"center": Field(("array",), dtypes="f")}),
    "Nonnegative": Entry(_REGULARISERS, {}),
    "SumTo": Entry(_REGULARISERS, {"total": _NUMBER}),
}
