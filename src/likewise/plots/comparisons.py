"""Methods beside each other: every run as a dot, and its mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.plots.canvas import INK, PALETTE, blank_figure
from likewise.plots.learning import GREY, MARKERS, NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class DotPanel:
    """One task: the values of every method, one per seed."""

    title: str
    methods: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class GroupPanel:
    """One task with several places: for every method, the values at every place."""

    title: str
    places: Sequence[str]
    methods: Mapping[str, Sequence[Sequence[float]]]


def draw_dots(panels: Sequence[DotPanel], axis: str) -> Figure:
    """One panel per task, one line per method, the best of the mean on top.

    Parameters
    ----------
    panels : sequence of DotPanel
        The tasks.
    axis : str
        What is measured.

    Returns
    -------
    matplotlib Figure
    """
    height = 1.3 + 0.36 * max(len(panel.methods) for panel in panels)
    figure = blank_figure(5.2 * len(panels), height)
    for ax, panel in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
        ranked = sorted(panel.methods, key=lambda name: float(np.mean(panel.methods[name])))
        for place, name in enumerate(ranked):
            found = np.asarray(panel.methods[name], dtype=np.float64)
            colour = _colour(name)
            ax.plot(
                [found.min(), found.max()], [place, place], color=colour, linewidth=1, alpha=0.5
            )
            ax.scatter(found, np.full(len(found), place), s=16, c=colour, linewidths=0, alpha=0.6)
            ax.scatter(found.mean(), place, s=70, marker="D", c=colour, edgecolors=INK, zorder=3)
            ax.annotate(
                f"{found.mean():.3f}", (1.0, place), xytext=(6, 0), textcoords="offset points",
                xycoords=("axes fraction", "data"), va="center", fontsize="small", color=INK,
            )  # fmt: skip
        ax.set_yticks(range(len(ranked)), [NAMES.get(name, name) for name in ranked])
        for label, name in zip(ax.get_yticklabels(), ranked, strict=True):
            label.set_fontweight("bold" if name in NAMES else "normal")
        ax.set_xlim(min(0.0, *(min(found) for found in panel.methods.values())) - 0.02, 1.02)
        ax.set_ylim(-0.6, len(ranked) - 0.4)
        ax.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(f"{axis}; dot: a run, diamond: mean")
        ax.set_title(panel.title, loc="left", fontsize="medium")
    return figure


def draw_groups(panels: Sequence[GroupPanel], axis: str, title: str) -> Figure:
    """One panel per task; at every place, the runs of the methods side by side.

    Parameters
    ----------
    panels : sequence of GroupPanel
        The tasks.
    axis, title : str
        What is measured, and what all panels have in common.

    Returns
    -------
    matplotlib Figure
    """
    figure = blank_figure(5.4 * len(panels), 4.4)
    figure.suptitle(title, fontsize="medium", x=0.01, ha="left")
    axes = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for ax, panel in zip(axes, panels, strict=True):
        names = list(panel.methods)
        for turn, name in enumerate(names):
            shift = 0.22 * (turn - (len(names) - 1) / 2)
            places = np.arange(len(panel.places)) + shift
            means = []
            for place, found in zip(places, panel.methods[name], strict=True):
                ax.scatter(
                    np.full(len(found), place), found, s=14, c=_colour(name), linewidths=0,
                    alpha=0.5,
                )  # fmt: skip
                means.append(float(np.mean(found)))
            ax.scatter(
                places, means, s=55, c=_colour(name), marker=MARKERS[turn], edgecolors=INK,
                label=NAMES.get(name, name), zorder=3,
            )  # fmt: skip
        ax.set_xticks(range(len(panel.places)), panel.places, fontsize="small")
        ax.set_ylim(0, 1.03)
        ax.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
        ax.set_axisbelow(True)
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title(panel.title, loc="left", fontsize="medium")
    axes[0].set_ylabel(axis)
    # Marks may be anywhere in the panels.
    marks, names = axes[0].get_legend_handles_labels()
    figure.legend(
        marks, names, loc="outside lower center", ncols=len(names), fontsize="small", frameon=False
    )
    return figure


def _colour(name: str) -> str:
    """The learner in the first colour, upper lines in grey, others in one more."""
    if name in NAMES:
        return PALETTE[0]
    return GREY if name.startswith("known") else PALETTE[1]
