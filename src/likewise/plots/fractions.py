"""How well methods do with a part of the labels, and with all of them; less loss is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.plots.canvas import INK, PALETTE, blank_figure
from likewise.plots.learning import GREY, MARKERS, NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Curves whose points are at the same place are drawn beside each other, so far apart.
BESIDE = 0.006


@dataclass(frozen=True)
class FractionPanel:
    """One way to show a part of the labels: for every method, mean, low and high by fraction."""

    title: str
    curves: Mapping[str, Mapping[float, tuple[float, float, float]]]


@dataclass(frozen=True)
class MethodPanel:
    """One task with all labels: the losses of every method, one per seed."""

    title: str
    methods: Mapping[str, Sequence[float]]


def draw_fractions(
    curves: Sequence[FractionPanel], tasks: Sequence[MethodPanel], x_axis: str, y_axis: str
) -> Figure:
    """Curves by the fraction of labels above, tasks with all labels below.

    Parameters
    ----------
    curves : sequence of FractionPanel
        The upper panels, which share an axis and a legend.
    tasks : sequence of MethodPanel
        The lower panels.
    x_axis, y_axis : str
        What the curves are drawn against, and what is measured.

    Returns
    -------
    matplotlib Figure
    """
    most = max(len(task.methods) for task in tasks)
    height = 1.2 + 0.3 * most
    figure = blank_figure(4.6 * max(len(curves), len(tasks)), 4.6 + height)
    parts = figure.subfigures(2, 1, squeeze=False, height_ratios=[4.6, height])
    above, below = parts[:, 0]
    axes = above.subplots(1, len(curves), squeeze=False, sharey=True)[0]
    for ax, panel in zip(axes, curves, strict=True):
        _draw_curves(ax, panel)
        ax.set_xlabel(x_axis)
    axes[0].set_ylabel(f"{y_axis}; bars: 90 %")
    handles, names = axes[0].get_legend_handles_labels()
    above.legend(handles, names, loc="outside right center", frameon=False, fontsize="small")
    for ax, task in zip(below.subplots(1, len(tasks), squeeze=False)[0], tasks, strict=True):
        _draw_task(ax, task)
        ax.set_xlabel(f"{y_axis}; diamond: mean", fontsize="small")
    return figure


def _draw_curves(ax: Axes, panel: FractionPanel) -> None:
    highest = max(high for curve in panel.curves.values() for _, _, high in curve.values())
    for place, (name, curve) in enumerate(panel.curves.items()):
        shift = BESIDE * (place - (len(panel.curves) - 1) / 2)
        x = np.array(list(curve)) + shift
        means, low, high = np.array(list(curve.values())).T
        ax.errorbar(
            x, means, yerr=[means - low, high - means], label=_spelled(name),
            color=PALETTE[place % len(PALETTE)], marker=MARKERS[place % len(MARKERS)],
            linestyle="-" if name.startswith("learner") else "--", markersize=5,
            linewidth=2.2 if place == 0 else 1.4, elinewidth=0.9, capsize=2,
            zorder=3 if place == 0 else 2,
        )  # fmt: skip
    ax.set_xlim(0.0, 1.04)
    ax.set_ylim(0.0, 1.05 * highest)
    ax.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
    ax.spines[["top", "right"]].set_visible(False)
    ax.set_title(panel.title, loc="left", fontsize="medium")


def _draw_task(ax: Axes, task: MethodPanel) -> None:
    """One line per method, the best on top, with its mean behind it."""
    ranked = sorted(task.methods, key=lambda name: -float(np.mean(task.methods[name])))
    for place, name in enumerate(ranked):
        found = np.asarray(task.methods[name], dtype=np.float64)
        colour = _colour(name)
        ax.scatter(found, np.full(len(found), place), s=14, c=colour, linewidths=0, alpha=0.6)
        ax.scatter(found.mean(), place, s=55, marker="D", c=colour, edgecolors=INK, zorder=3)
        ax.annotate(
            f"{found.mean():.2f}", (1.0, place), xytext=(6, 0), textcoords="offset points",
            xycoords=("axes fraction", "data"), va="center", fontsize="small", color=INK,
        )  # fmt: skip
    ax.set_yticks(range(len(ranked)), [_spelled(name) for name in ranked], fontsize="small")
    for label, name in zip(ax.get_yticklabels(), ranked, strict=True):
        label.set_fontweight("bold" if name.startswith("learner") else "normal")
    ax.set_xlim(-0.1, 1.05 * max(max(found) for found in task.methods.values()) + 0.1)
    ax.set_ylim(-0.6, len(ranked) - 0.4)
    ax.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.set_title(task.title, loc="left", fontsize="medium")


def _spelled(name: str) -> str:
    """The name of a method with that of what it is a variant of, as other pictures have it."""
    kind, comma, rest = name.partition(",")
    return NAMES.get(kind, kind) + comma + rest


def _colour(name: str) -> str:
    if name.startswith("learner"):
        return PALETTE[0]
    return GREY if name.startswith("known") else PALETTE[1]
