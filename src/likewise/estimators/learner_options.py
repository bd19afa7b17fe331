"""The parameters of `ExemplarLearner`, checked, and what of them a checkpoint depends on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from likewise import __version__
from likewise.arrays.random import draw_seed
from likewise.errors import InputError, InputTypeError
from likewise.estimators.learning import Wishes
from likewise.estimators.training import Settings
from likewise.learners.regularisers import Constraint, Nonnegative, Regulariser
from likewise.learners.subgradient import DEFAULT_STEP
from likewise.persistence.description import words_of
from likewise.validation import validate_choice, validate_int, validate_number

__all__ = [
    "OPTIMISERS",
    "checked",
    "checked_callbacks",
    "checked_n_jobs",
    "checked_step",
    "described",
    "is_columns",
    "is_precomputed",
    "number_or_auto",
]

OPTIMISERS = ("auto", "subgradient", "stochastic")
# What does not change the result of a training, only whether and when it ends; and what the
# arrays that go with a description say themselves.
NOT_DESCRIBED = {"n_jobs", "callbacks", "checkpoint", "max_iter", "random_state"}


def is_precomputed(features: Any) -> bool:
    """Whether the user computes pair features."""
    return isinstance(features, str) and features == "precomputed"


def is_columns(features: Any) -> bool:
    """Whether there is one feature per column."""
    return isinstance(features, str) and features == "columns"


def checked(learner: Any) -> tuple[Settings, Wishes, list[Callable[..., object]]]:
    """The parameters, checked."""
    fixed = _opening_cost(learner.opening_cost)
    settings = Settings(
        alpha=validate_number("alpha", learner.alpha, 0.0),
        beta=validate_number("beta", learner.beta, 0.0),
        opening_cost=fixed,
        constraint=_constraint(learner.constraint),
        optimiser=validate_choice("optimiser", learner.optimiser, OPTIMISERS),
        step=checked_step(learner.step),
        rounds=validate_int("rounds", learner.rounds, 1),
        max_iter=validate_int("max_iter", learner.max_iter, 1),
        tol=validate_number("tol", learner.tol, 0.0),
        n_jobs=checked_n_jobs(learner.n_jobs),
        seed=draw_seed(learner.random_state),
    )
    wishes = Wishes(
        regulariser=_regulariser(learner.regulariser),
        strength=number_or_auto("strength", learner.strength, 0.0),
        paths=_paths(learner.paths, fixed),
        size_exponent=number_or_auto("size_exponent", learner.size_exponent, 0.0),
        commensurable=is_columns(learner.features),
    )
    return settings, wishes, checked_callbacks(learner.callbacks)


def described(learner: Any, seed: int) -> str:
    """The parameters that the result depends on, in the same words in every process."""
    words = {
        name: words_of(value)
        for name, value in learner.get_params(deep=False).items()
        if name not in NOT_DESCRIBED
    }
    return repr([__version__, seed, sorted(words.items())])


def _opening_cost(value: Any) -> float | None:
    if isinstance(value, str):
        if value != "learn":
            raise InputError(f"opening_cost must be 'learn' or a number; got {value!r}.")
        return None
    return validate_number("opening_cost", value)


def checked_step(value: Any) -> Any:
    """The step of the subgradient methods."""
    if value is None:
        return DEFAULT_STEP
    return value if callable(value) else validate_number("step", value, 0.0, above_low=True)


def checked_n_jobs(value: Any) -> int | None:
    """The number of workers."""
    if value is None:
        return None
    number = validate_int("n_jobs", value, -(2**31))
    if number == 0:
        raise InputError(
            "n_jobs must be None, a number of workers, or -1 for one per processor; got 0."
        )
    return number


def checked_callbacks(value: Any) -> list[Callable[..., object]]:
    """The callbacks as a list."""
    callbacks = [] if value is None else [value] if callable(value) else value
    if not isinstance(callbacks, (list, tuple)) or not all(map(callable, callbacks)):
        raise InputTypeError(
            f"callbacks must be None, a callable or a list of callables; got {value!r}. Pass for "
            "instance callbacks=print."
        )
    return list(callbacks)


def _regulariser(value: Any) -> Any:
    if isinstance(value, str):
        return validate_choice("regulariser", value, ["auto", "l1", "l2"])
    if isinstance(value, Regulariser) and not isinstance(value, type):
        return value
    raise InputTypeError(
        "regulariser must be 'auto', 'l1', 'l2' or an object with value(weights) and "
        f"gradient(weights); got {value!r}."
    )


def _constraint(value: Any) -> Any:
    if isinstance(value, str):
        validate_choice("constraint", value, ["nonnegative", "none"])
        return Nonnegative() if value == "nonnegative" else None
    if isinstance(value, Constraint) and not isinstance(value, type):
        return value
    raise InputTypeError(
        "constraint must be 'nonnegative', 'none' or an object with project(weights), such as "
        f"likewise.learners.regularisers.SumTo(); got {value!r}."
    )


def number_or_auto(name: str, value: Any, low: float) -> float | None:
    """A number; None for "auto"."""
    if isinstance(value, str):
        validate_choice(name, value, ["auto"])
        return None
    return validate_number(name, value, low)


def _paths(value: Any, fixed: float | None) -> float | str | None:
    if isinstance(value, str):
        validate_choice("paths", value, ["auto"])
        # A fixed opening cost is in units of the distances themselves.
        return "auto" if fixed is None else None
    return None if value is None else validate_number("paths", value, 1.0)
