"""What a learner could have done without: candidates judged on held-out clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InputError
from likewise.learners.base import HELD_OUT
from likewise.plots.canvas import INK, PALETTE, axes_to_draw_on, figure_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

GREY = "#8A8A8A"
# What one would have without learning; drawn in a colour of its own.
PLAIN = "plain distance"


class AgreementDisplay:
    """Agreement of all candidates with what was held out of training, with standard errors.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    table : mapping of str to list
        "candidate", "agreement", "standard_error" and "chosen".
    held_out : str, default="clusters"
        What was: "sets", "clusters", "rows" or "nothing".

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes with the picture.
    figure_ : matplotlib Figure
        Figure that contains them.

    Examples
    --------
    >>> from likewise.plots import AgreementDisplay
    >>> table = {"candidate": ["plain distance", "learnt"], "agreement": [0.4, 0.9],
    ...          "standard_error": [0.1, 0.02], "chosen": [False, True]}
    >>> [text.get_text() for text in AgreementDisplay(table).plot().ax_.get_yticklabels()]
    ['learnt', 'plain distance']
    """

    def __init__(self, table: Mapping[str, Sequence[Any]], held_out: str = "clusters") -> None:
        self.table = table
        self.held_out = held_out

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> AgreementDisplay:
        """Draw what a learner compared.

        Parameters
        ----------
        estimator : fitted learner
            One with ``validation_`` and ``held_out_``, such as ``ExemplarLearner``.
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        AgreementDisplay
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator, ["validation_"])
        if not estimator.validation_:
            raise InputError(
                "validation_ is empty: nothing was to be chosen. Leave strength='auto' to have "
                "candidates compared."
            )
        return cls(estimator.validation_, estimator.held_out_).plot(ax)

    def plot(self, ax: Axes | None = None) -> AgreementDisplay:
        """Draw on `ax`, or on new axes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes new ones.

        Returns
        -------
        AgreementDisplay
            Itself.
        """
        self.ax_ = axes_to_draw_on(ax)
        self.figure_ = figure_of(self.ax_)
        scores = np.asarray(self.table["agreement"], dtype=np.float64)
        errors = np.asarray(self.table["standard_error"], dtype=np.float64)
        order = np.argsort(-np.nan_to_num(scores, nan=-1.0), kind="stable")
        names, chosen = self.table["candidate"], self.table["chosen"]
        for place, k in enumerate(order):
            colour = PALETTE[0] if chosen[k] else PALETTE[4] if names[k] == PLAIN else GREY
            self.ax_.errorbar(
                scores[k], place, xerr=errors[k], fmt="D" if chosen[k] else "o", color=colour,
                markersize=7 if chosen[k] else 5, elinewidth=1.2, capsize=2,
            )  # fmt: skip
        self.ax_.set_yticks(range(len(order)), [names[k] for k in order], fontsize="small")
        for label, k in zip(self.ax_.get_yticklabels(), order, strict=True):
            label.set_fontweight("bold" if chosen[k] or names[k] == PLAIN else "normal")
        self.ax_.set_ylim(len(order) - 0.5, -0.5)
        self.ax_.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
        self.ax_.set_axisbelow(True)
        self.ax_.spines[["top", "right", "left"]].set_visible(False)
        self.ax_.tick_params(axis="y", length=0)
        self.ax_.set_xlabel("adjusted Rand index, with standard error")
        self.ax_.set_title(
            f"candidates on {HELD_OUT[self.held_out]}; chosen: the diamond",
            loc="left",
            fontsize="medium",
            color=INK,
        )
        return self
