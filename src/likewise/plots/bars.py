"""Horizontal bars with names: the largest first, the small ones put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from likewise.plots.canvas import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.container import BarContainer
    from numpy.typing import ArrayLike, NDArray

# How the name of the bar ends that stands for several features.
OTHERS = " others together"
# Below this share of the largest value, a bar is a line nobody could see.
INVISIBLE = 1e-3
# Names are cut here, so that bars keep their room.
LONGEST_NAME = 28


def gathered(
    names: Sequence[str], values: ArrayLike, most: int, *, drop_zeros: bool = False
) -> tuple[list[str], NDArray[np.float64]]:
    """The values of largest size, in that order, and the sum of all others as the last one.

    Others are those beyond `most` bars, and those too small to be seen; with `drop_zeros`, features
    of value 0 are left out unless all are.

    Examples
    --------
    >>> from likewise.plots.bars import gathered
    >>> gathered(["a", "b", "c", "d"], [1.0, 3.0, -2.0, 0.5], 3)
    (['b', 'c', '2 others together'], array([ 3. , -2. ,  1.5]))
    """
    found = np.asarray(values, dtype=np.float64)
    order = np.argsort(-np.abs(found), kind="stable")
    if drop_zeros and (found != 0).any():
        order = order[found[order] != 0]
    sizes = np.abs(found[order])
    visible = int(np.count_nonzero(sizes > INVISIBLE * sizes.max(initial=0.0)))
    few = visible if 0 < visible < len(order) - 1 else len(order)
    if len(order) <= min(few, most):
        return [shortened(names[f]) for f in order], found[order]
    count = min(few, most - 1)
    kept, rest = order[:count], order[count:]
    shown = [shortened(names[f]) for f in kept]
    return [*shown, f"{len(rest):,}{OTHERS}"], np.append(found[kept], found[rest].sum())


def draw_bars(
    ax: Axes,
    names: Sequence[str],
    values: NDArray[np.float64],
    colours: Sequence[str],
    texts: Sequence[str],
    left: ArrayLike = 0.0,
) -> BarContainer:
    """Draw bars from top to bottom, the text of each behind its end."""
    n = len(names)
    starts = np.broadcast_to(np.asarray(left, dtype=np.float64), (n,))
    bars = ax.barh(range(n), values, left=starts, color=list(colours), height=0.72)
    for place, (start, value, text) in enumerate(zip(starts, values, texts, strict=True)):
        right = float(max(start, start + value))
        ax.annotate(
            text, (right, place), xytext=(4, 0), textcoords="offset points", va="center",
            fontsize="small", color=INK,
        )  # fmt: skip
    ax.set_yticks(range(n), list(names), fontsize="small" if n > 10 else "medium")
    ax.set_ylim(n - 0.4, -0.6)
    ends = np.concatenate([starts, starts + values, [0.0]])
    span = float(ends.max() - ends.min()) or 1.0
    # Room for the texts behind the longest bars.
    ax.set_xlim(
        float(ends.min()) - (0.02 * span if ends.min() < 0 else 0.0),
        float(ends.max()) + 0.18 * span,
    )
    if ends.min() < 0:
        ax.axvline(0.0, color=INK, linewidth=0.8)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.tick_params(axis="y", length=0)
    ax.grid(axis="x", color=INK, alpha=0.12, linewidth=0.6)
    ax.set_axisbelow(True)
    return bars


def shortened(name: str) -> str:
    """A name that fits beside its bar."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
