"""The names users import: the list, their documentation, their signatures."""

from __future__ import annotations

import doctest
import inspect
from types import ModuleType

import pytest

import likewise
from likewise import errors

PUBLIC = [
    "ChangePointDetector",
    "ChangePointLearner",
    "Compare",
    "ExemplarClusterer",
    "ExemplarLearner",
    "PenaltyRegressor",
    "RegionLabels",
    "__version__",
    "errors",
    "load",
    "metrics",
    "plots",
    "save",
]
METRICS = {
    "change_point_f1",
    "class_majority_accuracy",
    "clustering_accuracy",
    "covering",
    "hausdorff",
    "pairwise_f1",
    "projection_loss",
    "rand_loss",
}
NOTHING = inspect.Parameter.empty

# Name -> parameters before and after the star, with their defaults.
SIGNATURES = {
    "ChangePointDetector": (
        {"metric": None, "penalty": 1.0, "n_segments": None},
        {"kernel": None, "min_size": 1},
    ),
    "ChangePointLearner": (
        {"metric": "diagonal"},
        {
            "regulariser": "auto",
            "strength": "auto",
            "loss": "projection",
            "n_segments": None,
            "features": None,
            "penalty": "constant",
            "criterion": "auto",
            "optimiser": "auto",
            "step": None,
            "completion_start": "labelled",
            "max_iter": 200,
            "tol": 0.01,
            "n_jobs": None,
            "random_state": None,
            "callbacks": None,
            "checkpoint": None,
        },
    ),
    "PenaltyRegressor": ({}, {"regulariser": "l1", "strength": "auto", "margin": 1.0}),
    "RegionLabels": ({"regions": NOTHING}, {}),
    "Compare": (
        {"name": NOTHING, "distance": NOTHING, "columns": None},
        {"local_scale": None},
    ),
    "ExemplarClusterer": (
        {"features": "sqeuclidean", "weights": None, "opening_cost": "median"},
        {
            "candidates": None,
            "paths": None,
            "solver": "auto",
            "gap": 1e-6,
            "time_limit": None,
            "n_jobs": None,
            "random_state": None,
            "callbacks": None,
        },
    ),
    "ExemplarLearner": (
        {"features": "columns"},
        {
            "regulariser": "auto",
            "strength": "auto",
            "alpha": 1.0,
            "beta": 1.0,
            "opening_cost": "learn",
            "opening_features": None,
            "constraint": "nonnegative",
            "optimiser": "auto",
            "step": None,
            "rounds": 1,
            "paths": "auto",
            "local_scale": "auto",
            "size_exponent": "auto",
            "max_iter": 200,
            "tol": 0.02,
            "n_jobs": None,
            "random_state": None,
            "callbacks": None,
            "checkpoint": None,
        },
    ),
}


def documented() -> list[tuple[str, object]]:
    """Public classes and functions with their dotted names, those of public modules included."""
    found: list[tuple[str, object]] = []
    for name in likewise.__all__:
        value = getattr(likewise, name)
        if not isinstance(value, ModuleType):
            found.append((name, value))
        elif value is not errors:
            found.extend((f"{name}.{inner}", getattr(value, inner)) for inner in value.__all__)
    return [(name, value) for name, value in found if callable(value)]


def test_the_list():
    assert likewise.__all__ == sorted(likewise.__all__) == PUBLIC
    assert dir(likewise) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_every_name_resolves(name: str):
    assert getattr(likewise, name) is not None


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'likewise' has no attribute 'nothing'"):
        likewise.nothing  # noqa: B018


def test_metrics_holds_the_fixed_names():
    assert set(likewise.metrics.__all__) >= METRICS


@pytest.mark.parametrize("name", [name for name, _ in documented()])
def test_every_name_has_a_doctest(name: str):
    value = dict(documented())[name]
    text = inspect.getdoc(value) or ""
    assert doctest.DocTestParser().get_examples(text), f"{name}: show one use in the docstring"


@pytest.mark.parametrize("name", [name for name, value in documented() if inspect.isclass(value)])
def test_public_methods_are_documented(name: str):
    value = dict(documented())[name]
    own = {key: member for key, member in vars(value).items() if not key.startswith("_")}
    bare = [key for key in own if not inspect.getdoc(getattr(value, key))]
    assert bare == []


@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_signatures_are_fixed(name: str):
    before_star, after_star = SIGNATURES[name]
    parameters = inspect.signature(getattr(likewise, name)).parameters.values()
    kinds = inspect.Parameter
    assert [
        (item.name, item.default) for item in parameters if item.kind is kinds.POSITIONAL_OR_KEYWORD
    ] == list(before_star.items())
    assert [
        (item.name, item.default) for item in parameters if item.kind is kinds.KEYWORD_ONLY
    ] == list(after_star.items())
    assert len(parameters) == len(before_star) + len(after_star)


def test_fit_takes_links_and_weights_by_keyword():
    parameters = inspect.signature(likewise.ExemplarClusterer.fit).parameters
    by_keyword = ["must_link", "cannot_link", "sample_weight"]
    assert list(parameters) == ["self", "X", "y", *by_keyword]
    assert parameters["y"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert {parameters[name].kind for name in by_keyword} == {inspect.Parameter.KEYWORD_ONLY}


def test_errors_form_one_tree():
    for name, value in vars(errors).items():
        if inspect.isclass(value) and value.__module__ == errors.__name__:
            root = errors.LikewiseWarning if issubclass(value, Warning) else errors.LikewiseError
            assert issubclass(value, root), name
            assert inspect.getdoc(value), name
