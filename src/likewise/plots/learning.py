"""How learning to cluster went: objective, weights, one clustered set, accuracy over a setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.plots.canvas import INK, PALETTE, blank_figure, cluster_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# The learner is drawn in the first colour, and what it is compared with in others.
MARKERS = ("o", "s", "D", "^", "v", "P", "X")
GREY = "#8A8A8A"
NAMES = {"learner": "learnt (likewise)"}


@dataclass(frozen=True)
class AccuracyLine:
    """One method: for every place on the x axis, one value per seed."""

    name: str
    points: Mapping[float, Sequence[float]]


class LearningFigure:
    """Four panels, as figure 2 of komodakis2011.

    Parameters
    ----------
    curves : sequence of sequences
        The objective by passes, one curve per run.
    example : dict
        "weights" (shares, adding up to 1), "informative" (their number, the first ones), "columns"
        (two), "rows" (in these columns), "truth" and "exemplars" of one clustered set.
    measured : dict
        "clusters_found" and "pairwise_f1" of that set.
    lines : sequence of AccuracyLine
        Accuracy by the share of noise columns.
    """

    def __init__(
        self,
        curves: Sequence[Sequence[float]],
        example: Mapping[str, Any],
        measured: Mapping[str, Any],
        lines: Sequence[AccuracyLine],
    ) -> None:
        self.curves = curves
        self.example = example
        self.measured = measured
        self.lines = lines

    def draw(self) -> Figure:
        """Draw the panels on a new figure."""
        figure = blank_figure(10.5, 8.0)
        axes = figure.subplots(2, 2)
        self._draw_objective(axes[0, 0])
        self._draw_weights(axes[0, 1])
        self._draw_partition(axes[1, 0])
        self._draw_accuracy(axes[1, 1])
        return figure

    def _draw_objective(self, ax: Axes) -> None:
        longest = max(map(len, self.curves))
        # A run that ended stays where it was.
        padded = np.array([[*c, *[c[-1]] * (longest - len(c))] for c in self.curves])
        passes = np.arange(1, longest + 1)
        for curve in self.curves:
            ax.plot(passes[: len(curve)], curve, color=GREY, linewidth=0.6, alpha=0.5)
        ax.plot(passes, padded.mean(axis=0), color=PALETTE[0], linewidth=2.2)
        if padded.min() > 0:
            ax.set_yscale("log")
        ax.set_xscale("log")
        ax.set_xlim(1, longest)
        _plain_ticks(ax)
        ax.set_xlabel("pass over the training sets")
        ax.set_ylabel("objective per shown row")
        _finish(ax, "a", f"training objective, mean of {len(self.curves)} runs")

    def _draw_weights(self, ax: Axes) -> None:
        weights = np.asarray(self.example["weights"], dtype=np.float64)
        first_noise = int(self.example["informative"])
        places = np.arange(1, len(weights) + 1)
        informative = places <= first_noise
        ax.axvspan(first_noise + 0.5, len(weights) + 0.5, color=INK, alpha=0.07, linewidth=0)
        ax.bar(places[informative], weights[informative], width=0.85, color=PALETTE[0])
        ax.bar(places[~informative], weights[~informative], width=0.85, color=PALETTE[4])
        top = float(weights.max()) * 1.18
        ax.set_ylim(0, top)
        ax.set_xlim(0.5, len(weights) + 0.5)
        noise = float(weights[~informative].sum())
        for place, text in (
            ((first_noise + 1) / 2, "informative columns"),
            ((first_noise + 1 + len(weights)) / 2, f"noise columns: {100 * noise:.2g} % in all"),
        ):
            ax.text(place, 0.965 * top, text, ha="center", va="top", color=INK, fontsize="small")
        ax.set_xlabel("column")
        ax.set_ylabel("share of the learnt distance")
        _finish(ax, "b", "learnt weights, times the spread of their column")

    def _draw_partition(self, ax: Axes) -> None:
        rows = np.asarray(self.example["rows"], dtype=np.float64)
        truth = np.asarray(self.example["truth"], dtype=np.intp)
        exemplars = np.asarray(self.example["exemplars"], dtype=np.intp)
        colours, markers = _colours_of(rows, truth)
        for label in range(int(truth.max()) + 1):
            own = truth == label
            ax.scatter(
                rows[own, 0], rows[own, 1], s=13, c=colours[label], marker=markers[label],
                linewidths=0, alpha=0.8,
            )  # fmt: skip
        ax.scatter(
            rows[exemplars, 0], rows[exemplars, 1], s=190, facecolors="none", edgecolors=INK,
            linewidths=1.6, zorder=3,
        )  # fmt: skip
        first, second = self.example["columns"]
        ax.set_xlabel(f"column {first + 1}")
        ax.set_ylabel(f"column {second + 1}")
        n_true = int(truth.max()) + 1
        _finish(
            ax, "c",
            f"a new set, exemplars circled: {int(self.measured['clusters_found'])} clusters found "
            f"of {n_true}, F {self.measured['pairwise_f1']:.3f}",
        )  # fmt: skip

    def _draw_accuracy(self, ax: Axes) -> None:
        draw_lines(ax, self.lines)
        ax.set_ylim(0, 1.03)
        ax.set_xlabel("share of noise columns")
        ax.set_ylabel("pairwise F on new sets")
        ax.set_xticks(sorted({x for line in self.lines for x in line.points}))
        handles, labels = ax.get_legend_handles_labels()
        ax.legend(
            handles[::-1], labels[::-1], loc="center left", fontsize="small", frameon=False,
            bbox_to_anchor=(0.0, 0.56),
        )  # fmt: skip
        seeds = max(len(found) for line in self.lines for found in line.points.values())
        _finish(ax, "d", f"accuracy, mean and range of {seeds} runs")


def draw_lines(ax: Axes, lines: Sequence[AccuracyLine]) -> None:
    """Means of several methods, with the range from the least to the largest value."""
    # The first line is drawn last, over the others.
    for place in reversed(range(len(lines))):
        line = lines[place]
        x = np.array(sorted(line.points))
        found = [np.asarray(line.points[value], dtype=np.float64) for value in x]
        means = np.array([values.mean() for values in found])
        low = means - np.array([values.min() for values in found])
        high = np.array([values.max() for values in found]) - means
        ax.errorbar(
            x, means, yerr=[low, high], label=NAMES.get(line.name, line.name),
            color=GREY if line.name.startswith("known") else PALETTE[place % len(PALETTE)],
            linestyle="--" if line.name.startswith("known") else "-",
            marker=MARKERS[place % len(MARKERS)], markersize=5 if place else 6,
            linewidth=2.2 if place == 0 else 1.4, elinewidth=0.9, capsize=2,
        )  # fmt: skip


def _colours_of(rows: NDArray[np.float64], truth: NDArray[np.intp]) -> tuple[list[str], list[str]]:
    """A colour for every cluster, unlike its neighbours', and a marker where colours repeat."""
    n_clusters = int(truth.max()) + 1
    centres = np.array([rows[truth == label].mean(axis=0) for label in range(n_clusters)])
    colours = [str(colour) for colour in cluster_colours(centres)]
    before = [colours[:place].count(colour) for place, colour in enumerate(colours)]
    return colours, [MARKERS[count % len(MARKERS)] for count in before]


def _plain_ticks(ax: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    for axis in (ax.xaxis, ax.yaxis):
        if axis.get_scale() == "log":
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_formatter(NullFormatter())


def _finish(ax: Axes, letter: str, title: str) -> None:
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(f"({letter})  {title}", loc="left", fontsize="medium")
