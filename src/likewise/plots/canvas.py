"""What all pictures share: matplotlib or a clear refusal, figures without a screen, colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import MissingDependencyError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# M. Okabe, K. Ito, "Color Universal Design", 2008: told apart with any kind of colour vision.
# Black is kept for exemplars and the yellow, faint on white, is left out.
PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
INK = "#222222"
# Above this many clusters, neighbours are no longer told apart: the picture could not show it.
MANY_CLUSTERS = 1000
SWEEPS = 10


def require_matplotlib() -> None:
    """Refuse, with the remedy, where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingDependencyError(
            "drawing needs matplotlib: pip install 'likewise[app]'."
        ) from error


def blank_figure(width: float, height: float) -> Figure:
    """Make a figure that needs no screen and no global state; sizes in inches."""
    require_matplotlib()
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    figure.set_layout_engine("constrained", w_pad=0.15, h_pad=0.12)
    FigureCanvasAgg(figure)
    return figure


def axes_to_draw_on(ax: Axes | None) -> Axes:
    """Return the axes that were given, or new ones as pyplot makes them."""
    require_matplotlib()
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    made: Axes = plt.subplots(layout="constrained")[1]
    return made


def figure_of(ax: Axes) -> Figure:
    """Return the figure that axes belong to, also where they are in a part of it."""
    figure: Any = ax.figure
    top: Figure = figure.figure
    return top


def cluster_colours(places: NDArray[np.float64]) -> NDArray[np.str_]:
    """Colours for exemplars at `places`, of shape (k, 2), such that neighbours differ.

    In turn, and again until nothing changes, each takes the colour whose nearest other bearer is
    farthest away; it then differs from its nearest neighbour.
    """
    k = places.shape[0]
    chosen = np.arange(k) % len(PALETTE)
    if len(PALETTE) < k <= MANY_CLUSTERS:
        for _ in range(SWEEPS):
            before = chosen.copy()
            for i in range(k):
                away = np.square(places - places[i]).sum(axis=1)
                away[i] = np.inf
                nearest = np.full(len(PALETTE), np.inf)
                np.minimum.at(nearest, chosen, away)
                chosen[i] = nearest.argmax()
            if (chosen == before).all():
                break
    return np.array(PALETTE)[chosen]


def readable(value: float) -> str:
    """Write a number with six significant digits or more, without an exponent where it fits."""
    if value == 0 or not 1e-4 <= abs(value) < 1e12:
        return f"{value:.6g}"
    decimals = max(0, 5 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{decimals}f}"
