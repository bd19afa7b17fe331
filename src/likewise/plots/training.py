"""How a solution came about: value and bound, the gap between them shaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InputError
from likewise.plots.canvas import INK, PALETTE, axes_to_draw_on, figure_of
from likewise.plots.partitions import describe

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

# The picture reaches so many times the gap between first energy and last bound below that bound.
SHOWN_SPANS = 1.0


class SolveDisplay:
    """Energy and lower bound over the seconds of a solve.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    seconds, energy, lower_bound : ndarray of shape (m,)
        The record; entries that are not finite are not drawn.
    title : str, default=None
        Title of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure that contains them.
    energy_line_, bound_line_ : matplotlib Line2D
        The two curves.
    gap_ : matplotlib PolyCollection
        The shaded area between them.

    Examples
    --------
    >>> import likewise as lw
    >>> model = lw.ExemplarClusterer().fit([[0.0], [0.1], [5.0], [5.1]])
    >>> display = lw.plots.SolveDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'seconds'
    """

    def __init__(
        self,
        seconds: NDArray[np.float64],
        energy: NDArray[np.float64],
        lower_bound: NDArray[np.float64],
        *,
        title: str | None = None,
    ) -> None:
        self.seconds = seconds
        self.energy = energy
        self.lower_bound = lower_bound
        self.title = title

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> SolveDisplay:
        """Draw how a fitted clusterer found its partition.

        Parameters
        ----------
        estimator : fitted clusterer
            One with ``history_``, such as ``ExemplarClusterer``.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        SolveDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, ["history_", "energy_", "lower_bound_"])
        columns = [
            np.asarray(estimator.history_[name], dtype=np.float64)
            for name in ("seconds", "energy", "lower_bound")
        ]
        if columns[0].size == 0:
            raise InputError("history_ is empty: fit recorded nothing that could be drawn.")
        return cls(*columns, title=describe(estimator)).plot(ax)

    def plot(self, ax: Axes | None = None) -> SolveDisplay:
        """Draw on `ax`, or on new axes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        SolveDisplay
            Itself.
        """
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = figure_of(self.ax_)
        self.energy_line_, self.bound_line_, self.gap_ = _draw_curves(
            self.ax_, self.seconds, self.energy, self.lower_bound,
            ("energy of the best partition", "lower bound on every partition"),
        )  # fmt: skip
        self.ax_.set_xlabel("seconds")
        self.ax_.set_ylabel("energy")
        if self.title is not None:
            self.ax_.set_title(self.title, loc="left", fontsize="medium")
        return self


class TrainingDisplay:
    """Objective and lower bound over the passes of a training.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    objective, lower_bound : ndarray of shape (m,)
        After every pass; entries that are not finite are not drawn.
    title : str, default=None
        Title of the picture.
    bound_name : str, default="lower bound"
        What to call the bound.
    examples : str, default="sets"
        What a pass is over.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure that contains them.
    objective_line_, bound_line_ : matplotlib Line2D
        The two curves.
    gap_ : matplotlib PolyCollection
        The shaded area between them.

    Examples
    --------
    >>> import likewise as lw
    >>> from likewise.datasets import make_partitioned_sets
    >>> made = make_partitioned_sets(n_sets=3, n_rows=40, n_columns=4, random_state=0)
    >>> learner = lw.ExemplarLearner(strength=0.1).fit(made.sets, made.labels)
    >>> display = lw.plots.TrainingDisplay.from_estimator(learner)
    >>> display.ax_.get_xlabel()
    'pass over the training sets'
    """

    def __init__(
        self,
        objective: NDArray[np.float64],
        lower_bound: NDArray[np.float64],
        *,
        title: str | None = None,
        bound_name: str = "lower bound",
        examples: str = "sets",
    ) -> None:
        self.objective = objective
        self.lower_bound = lower_bound
        self.title = title
        self.bound_name = bound_name
        self.examples = examples

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> TrainingDisplay:
        """Draw how a learner was trained.

        Parameters
        ----------
        estimator : fitted learner
            One with ``history_``, such as ``ExemplarLearner`` or ``ChangePointLearner``.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        TrainingDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, ["history_", "status_"])
        columns = [
            np.asarray(estimator.history_.get(name, []), dtype=np.float64)
            for name in ("objective", "lower_bound")
        ]
        if columns[0].size == 0:
            raise InputError(
                "history_ is empty: the distance that was chosen needed no passes. validation_ "
                "says what it was compared with; AgreementDisplay draws that."
            )
        passes, gap = columns[0].size, float(estimator.gap_)
        duality = f"duality gap {100 * gap:.2g} %" if np.isfinite(gap) else "no bound"
        title = f"{estimator.status_} after {passes:,} pass{'es' if passes != 1 else ''}, {duality}"
        if hasattr(estimator, "detector_"):
            return cls(*columns, title=title, examples="sequences").plot(ax)
        bound = "lower bound, with the exemplars of the pass"
        return cls(*columns, title=title, bound_name=bound).plot(ax)

    def plot(self, ax: Axes | None = None) -> TrainingDisplay:
        """Draw on `ax`, or on new axes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        TrainingDisplay
            Itself.
        """
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = figure_of(self.ax_)
        from matplotlib.ticker import MaxNLocator

        passes = np.arange(1.0, len(self.objective) + 1.0)
        self.objective_line_, self.bound_line_, self.gap_ = _draw_curves(
            self.ax_, passes, self.objective, self.lower_bound,
            ("objective of the best weights", self.bound_name),
        )  # fmt: skip
        self.ax_.xaxis.set_major_locator(MaxNLocator(integer=True))
        self.ax_.set_xlabel(f"pass over the training {self.examples}")
        self.ax_.set_ylabel("objective")
        if self.title is not None:
            self.ax_.set_title(self.title, loc="left", fontsize="medium")
        return self


def _draw_curves(
    ax: Axes,
    x: NDArray[np.float64],
    values: NDArray[np.float64],
    bounds: NDArray[np.float64],
    names: tuple[str, str],
) -> tuple[Any, Any, Any]:
    """A value and a bound below it as steps, the gap between them shaded."""
    value = np.where(np.isfinite(values), values, np.nan)
    bound = np.where(np.isfinite(bounds), bounds, np.nan)
    style: dict[str, Any] = {
        "drawstyle": "steps-post",
        "linewidth": 1.8,
        "marker": "o" if len(value) < 40 else "",
        "markersize": 3,
    }
    (value_line,) = ax.plot(x, value, color=PALETTE[4], label=names[0], **style)
    (bound_line,) = ax.plot(x, bound, color=PALETTE[0], label=names[1], **style)
    gap = ax.fill_between(
        x, bound, value, step="post", color=INK, alpha=0.12, linewidth=0, label="gap"
    )
    _focus(ax, values, bounds)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="best")
    return value_line, bound_line, gap


def _focus(ax: Axes, values: NDArray[np.float64], bounds: NDArray[np.float64]) -> None:
    """Show where the curves meet: the first bounds may lie far below and are cut off."""
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    value = values[np.isfinite(values)]
    bound = bounds[np.isfinite(bounds)]
    if value.size and bound.size:
        span = float(value.max() - bound.max())
        span = max(span, 1e-3 * abs(float(value.min())), np.finfo(np.float64).tiny)
        bottom = max(float(bound.min()), float(bound.max()) - SHOWN_SPANS * span)
        ax.set_ylim(bottom - 0.1 * span, float(value.max()) + 0.1 * span)
