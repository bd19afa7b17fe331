"""Why two rows are near or far: what every feature adds to their distance, as a waterfall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InputError
from likewise.plots.bars import OTHERS, draw_bars, gathered
from likewise.plots.canvas import INK, PALETTE, axes_to_draw_on, figure_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer


class ExplanationDisplay:
    """The contributions to one distance, each bar beginning where the one before ended.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    contributions : mapping of str to float
        What every feature adds.
    title : str, default=None
        Title of the picture.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure that contains them.
    bars_ : matplotlib BarContainer
        The bars, the largest contribution first; the last one is the distance.

    Examples
    --------
    >>> from likewise.plots import ExplanationDisplay
    >>> display = ExplanationDisplay({"width": 2.0, "height": 0.5}).plot()
    >>> [float(bar.get_width()) for bar in display.bars_]
    [2.0, 0.5, 2.5]
    """

    def __init__(self, contributions: Mapping[str, float], *, title: str | None = None) -> None:
        self.contributions = contributions
        self.title = title

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, p: int, q: int, *, most: int = 12, ax: Axes | None = None
    ) -> ExplanationDisplay:
        """Draw the distance of row `p` from row `q`.

        Parameters
        ----------
        estimator : fitted learner
            One with ``explain``, such as ``ExemplarLearner``.
        X : array-like or frame of shape (n, p)
            A set.
        p, q : int
            Two of its rows.
        most : int, default=12
            Bars at most, without that of the distance.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        ExplanationDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, "weights_")
        explanation = estimator.explain(X, p, q)
        title = f"learnt distance of row {p} from row {q}: {explanation.distance:.4g}"
        return cls(explanation.contributions, title=title).plot(ax, most=most)

    def plot(self, ax: Axes | None = None, *, most: int = 12) -> ExplanationDisplay:
        """Draw on `ax`, or on new axes.

        Parameters
        ----------
        ax, most
            As for :meth:`from_estimator`.

        Returns
        -------
        ExplanationDisplay
            Itself.
        """
        if most < 2 or not self.contributions:
            raise InputError(
                f"a waterfall needs contributions, and most of 2 or more; got {most} bars for "
                f"{len(self.contributions)} contributions."
            )
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = figure_of(self.ax_)
        names, values = gathered(
            list(self.contributions), list(self.contributions.values()), most, drop_zeros=True
        )
        ends = np.cumsum(values)
        total = float(ends[-1])
        starts = np.append(ends - values, 0.0)
        colours = [
            "#8A8A8A" if name.endswith(OTHERS) else PALETTE[0] if value >= 0 else PALETTE[4]
            for name, value in zip(names, values, strict=True)
        ]
        self.bars_: BarContainer = draw_bars(
            self.ax_, [*names, "distance"], np.append(values, total), [*colours, INK],
            [*(f"{value:+.3g}" for value in values), f"{total:.4g}"], left=starts,
        )  # fmt: skip
        for place, end in enumerate(ends):
            # Where a bar ends, the next one begins; the last one ends where the distance does.
            self.ax_.plot([end, end], [place, place + 1], color=INK, linewidth=0.7, alpha=0.5)
        self.ax_.set_xlabel("contribution to the distance")
        if self.title is not None:
            self.ax_.set_title(self.title, loc="left", fontsize="medium", color=INK)
        return self
