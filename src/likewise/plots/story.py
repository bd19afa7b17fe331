"""The pictures of ``likewise demo``: what was shown, what plain distances make of new sets, and
what comes out after learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.plots.before_after import COLOURS, matched
from likewise.plots.canvas import INK, PALETTE, blank_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Labels = NDArray[np.intp]

GREY = "#8A8A8A"
WRONG = PALETTE[4]
# Images in a line, and lines of a block; more clusters than that are counted.
ACROSS, MOST_LINES = 12, 9
# Pixels between images; room for the text beside a line, in images.
SPACE, BESIDE = 2, 4.6
# Inches of the picture of images: its width, and what is above and below the images.
WIDE, AROUND = 15.0, 1.5


@dataclass(frozen=True)
class Island:
    """One set: where its rows are drawn, and its known clusters."""

    places: Floats
    truth: Labels


@dataclass(frozen=True)
class Attempt:
    """One way of grouping new sets: the labels of every set, and a title for each."""

    name: str
    labels: Sequence[Labels]
    titles: Sequence[str]


@dataclass(frozen=True)
class Weights:
    """Shares of columns in the learnt distance, the informative ones first."""

    shares: Floats
    n_informative: int


@dataclass(frozen=True)
class ImageBlock:
    """Images in clusters, each with the name of its class."""

    title: str
    subtitle: str
    images: Floats
    classes: Labels
    labels: Labels
    judged: bool = True


def draw_learning(
    title: str,
    shown: Sequence[Island],
    weights: Weights,
    new: Sequence[Island],
    attempts: Sequence[Attempt],
) -> Figure:
    """Sets that were shown, the weights that were learnt, and new sets grouped in several ways.

    Parameters
    ----------
    title : str
        What the picture says.
    shown : sequence of Island
        The sets that were shown.
    weights : Weights
        What was learnt.
    new : sequence of Island
        The sets that were then grouped.
    attempts : sequence of Attempt
        Ways of grouping these, one line each.

    Returns
    -------
    matplotlib Figure
    """
    figure = blank_figure(15.0, 1.5 + 2.5 * len(attempts))
    _headline(figure, title)
    parts: Any = figure.subfigures(1, 2, width_ratios=[1.0, 0.78 * len(new)], wspace=0.02)
    left, right = parts
    upper, lower = left.subfigures(2, 1, height_ratios=[1.9, 1.0])
    _step(upper, 1, f"{len(shown)} sets are shown, grouped")
    lines = -(-len(shown) // 2)
    for ax, own in zip(upper.subplots(lines, 2, squeeze=False).flat, shown, strict=False):
        _scatter(ax, own.places, own.truth, 14)
        ax.set_title(f"{len(np.unique(own.truth))} clusters", fontsize=10.5, color=INK)
    _step(lower, 2, "which columns count is learnt")
    _bars(lower.subplots(), weights)
    _step(right, 3, "new sets, whose clusters were never seen, are grouped")
    panels = right.subplots(len(attempts), len(new), squeeze=False)
    for line, attempt in zip(panels, attempts, strict=True):
        for ax, own, labels, text in zip(line, new, attempt.labels, attempt.titles, strict=True):
            _scatter(ax, own.places, matched(labels, own.truth), 22)
            ax.set_title(text, fontsize=10.5, color=INK)
        line[0].set_ylabel(attempt.name, fontsize=11.5, fontweight="bold", color=INK)
    right.supxlabel(
        "Every dot is a row, placed by the columns that tell clusters apart (t-SNE); every island "
        "is a true cluster, every colour\na cluster found: islands of one colour are right. ARI: "
        "adjusted Rand index, 1 is perfect, 0 is chance.",
        fontsize=10, color=INK,
    )  # fmt: skip
    return figure


def draw_images(title: str, blocks: Sequence[ImageBlock], note: str) -> Figure:
    """Clusters of images beside each other, one line of images per cluster.

    Parameters
    ----------
    title, note : str
        What the picture says, and how to read it.
    blocks : sequence of ImageBlock
        Sets of images in clusters. In judged ones, images outside of the largest class of their
        cluster are framed.

    Returns
    -------
    matplotlib Figure
    """
    lines = max(min(MOST_LINES, len(np.unique(block.labels))) for block in blocks)
    # Pixels are squares, so the widths give the height.
    height, width = blocks[0].images.shape[1:]
    tall = lines * (height + SPACE) / ((ACROSS + BESIDE) * (width + SPACE))
    figure = blank_figure(WIDE, AROUND + tall * WIDE / len(blocks))
    _headline(figure, title)
    axes = figure.subplots(1, len(blocks), squeeze=False)[0]
    for number, (ax, block) in enumerate(zip(axes, blocks, strict=True), 1):
        _draw_block(ax, block, lines)
        ax.set_title(
            f"{number}  {block.title}\n", loc="left", fontsize=13, fontweight="bold", color=INK
        )
        ax.text(
            0.0, 1.02, block.subtitle, transform=ax.transAxes, fontsize=10.5, color=INK,
            va="bottom",
        )  # fmt: skip
    figure.supxlabel(note, fontsize=10.5, color=INK)
    return figure


def lines_of(block: ImageBlock) -> list[tuple[int, Labels]]:
    """For every cluster its largest class and its rows: those of that class first.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.plots.story import ImageBlock, lines_of
    >>> block = ImageBlock("", "", np.zeros((4, 2, 2)), np.array([7, 5, 7, 5]),
    ...                    np.array([0, 0, 0, 1]))
    >>> [(name, rows.tolist()) for name, rows in lines_of(block)]
    [(5, [3]), (7, [0, 2, 1])]
    """
    lines = []
    for cluster in np.unique(block.labels):
        rows = np.flatnonzero(block.labels == cluster)
        names, counts = np.unique(block.classes[rows], return_counts=True)
        largest = names[counts.argmax()]
        others = block.classes[rows] != largest
        lines.append((int(largest), rows[np.lexsort((block.classes[rows], others))]))
    return sorted(lines, key=lambda line: (line[0], -len(line[1])))


def _draw_block(ax: Axes, block: ImageBlock, lines: int) -> None:
    from matplotlib.patches import Rectangle

    found = lines_of(block)
    height, width = block.images.shape[1:]
    down, across = height + SPACE, width + SPACE
    canvas = np.zeros((lines * down, ACROSS * across))
    for line, (largest, rows) in enumerate(found[:MOST_LINES]):
        some = rows[np.linspace(0, len(rows) - 1, min(ACROSS, len(rows))).round().astype(int)]
        top = line * down
        for place, row in enumerate(some):
            left = place * across
            canvas[top : top + height, left : left + width] = block.images[row]
            if block.judged and block.classes[row] != largest:
                ax.add_patch(
                    Rectangle(
                        (left - 1, top - 1), width + 1, height + 1, fill=False, edgecolor=WRONG,
                        linewidth=1.8,
                    )
                )  # fmt: skip
        share = np.mean(block.classes[rows] == largest)
        text = f"{len(rows)}, all are {largest}"
        if share < 1:
            text = f"{len(rows)}, {share:.0%} are {largest}"
        ax.text(ACROSS * across + 1, top + height / 2, text, va="center", fontsize=9.5, color=INK)
    left_out = len(found) - MOST_LINES
    if left_out > 0:
        ax.text(0, lines * down, f"and {left_out} more clusters", va="top", fontsize=9.5, color=INK)
    ax.imshow(canvas, cmap="gray_r", interpolation="nearest")
    ax.set_xlim(-2, (ACROSS + BESIDE) * across)
    ax.set_ylim(lines * down + (4 if left_out > 0 else 0), -2)
    ax.axis("off")


def _headline(figure: Figure, title: str) -> None:
    figure.suptitle(title, x=0.012, ha="left", fontsize=17, fontweight="bold", color=INK)


def _step(part: Any, number: int, text: str) -> None:
    part.suptitle(f"{number}  {text}", x=0.02, ha="left", fontsize=13, fontweight="bold", color=INK)


def _scatter(ax: Axes, places: Floats, numbers: Labels, size: float) -> None:
    colours = np.array(COLOURS)[numbers % len(COLOURS)]
    ax.scatter(places[:, 0], places[:, 1], s=size, c=colours, linewidths=0.3, edgecolors="white")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_color("#CCCCCC")
    ax.margins(0.07)


def _bars(ax: Axes, weights: Weights) -> None:
    n, signal = len(weights.shares), weights.n_informative
    colours = [PALETTE[0]] * signal + [GREY] * (n - signal)
    ax.bar(range(n), weights.shares, color=colours, width=0.76)
    ax.set_xlim(-0.6, n - 0.4)
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_xlabel("columns", fontsize=10, color=INK)
    ax.set_ylabel("share of the\nlearnt distance", fontsize=10, color=INK)
    most = float(weights.shares.max())
    noise = float(weights.shares[signal:].sum())
    rest = float(weights.shares.sum()) - noise
    # Over the noise there is room for both.
    for height, colour, text in (
        (0.84, PALETTE[0], f"{signal} columns tell clusters apart: {rest:.1%}"),
        (0.30, GREY, f"{n - signal} columns are noise: {noise:.1%} in all"),
    ):
        ax.text(
            signal - 0.3, height * most, text, va="center", fontsize=10, color=colour,
            fontweight="bold",
        )  # fmt: skip
