"""A partition of images: exemplars at their places on a map, and a strip of members for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InputError
from likewise.plots.canvas import INK, blank_figure, cluster_colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

# Strips in one column of the picture; more clusters make more columns.
STRIPS = 16
# Side of an exemplar on the map, as a share of the map's width.
THUMBNAIL = 0.044
# Inches: the height of the picture, of which the map takes a square, and of its titles.
HEIGHT, TITLES = 9.6, 0.8


class GalleryDisplay:
    """Clusters of images: a map with the exemplars, and strips of members.

    Make one with :meth:`from_partition`.

    Parameters
    ----------
    images : ndarray of shape (n, height, width)
        Dark where the values are large.
    positions : ndarray of shape (n, 2)
        Place of each image on the map.
    labels : ndarray of shape (n,)
        Cluster of each image, 0 to k - 1.
    exemplars : ndarray of shape (k,)
        The exemplar of each cluster.
    distances : ndarray of shape (n,)
        Distance of each image to the exemplar of its cluster.
    title : str, default=None
        First line of the title.
    subtitle : str, default=None
        Second line of the title.
    note : str, default=None
        What to know about the map, below it.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The picture.
    map_ax_ : matplotlib Axes
        The map.
    strip_axes_ : list of matplotlib Axes
        The columns of strips.

    Examples
    --------
    >>> import numpy as np
    >>> from likewise.plots import GalleryDisplay
    >>> images = np.eye(4).reshape(4, 2, 2)
    >>> display = GalleryDisplay.from_partition(
    ...     images, [0, 0, 1, 1], [0, 2], positions=np.eye(4)[:, :2], distances=[0, 1, 0, 1]
    ... )
    >>> len(display.strip_axes_)
    1
    """

    def __init__(
        self,
        images: NDArray[np.float64],
        positions: NDArray[np.float64],
        labels: NDArray[np.intp],
        exemplars: NDArray[np.intp],
        distances: NDArray[np.float64],
        *,
        title: str | None = None,
        subtitle: str | None = None,
        note: str | None = None,
    ) -> None:
        self.images = images
        self.positions = positions
        self.labels = labels
        self.exemplars = exemplars
        self.distances = distances
        self.title = title
        self.subtitle = subtitle
        self.note = note

    @classmethod
    def from_partition(
        cls,
        images: object,
        labels: object,
        exemplars: object,
        *,
        positions: object,
        distances: object,
        title: str | None = None,
        subtitle: str | None = None,
        note: str | None = None,
        figure: Figure | None = None,
    ) -> GalleryDisplay:
        """Draw a partition of images.

        Parameters
        ----------
        images, labels, exemplars, positions, distances, title, subtitle, note
            As for the class.
        figure : matplotlib Figure, default=None
            An empty figure to draw on; None makes one, which needs no screen.

        Returns
        -------
        GalleryDisplay
        """
        pictures = np.asarray(images, dtype=np.float64)
        if pictures.ndim != 3:
            raise InputError(
                f"images must have shape (n, height, width); got {pictures.shape}. Reshape rows of "
                "pixels first."
            )
        display = cls(
            pictures,
            np.asarray(positions, dtype=np.float64),
            np.asarray(labels, dtype=np.intp),
            np.asarray(exemplars, dtype=np.intp),
            np.asarray(distances, dtype=np.float64),
            title=title,
            subtitle=subtitle,
            note=note,
        )
        return display.plot(figure)

    def plot(self, figure: Figure | None = None, *, members: int = 7) -> GalleryDisplay:
        """Draw on an empty figure, or on a new one.

        Parameters
        ----------
        figure : matplotlib Figure, default=None
            An empty figure to draw on; None makes one, which needs no screen.
        members : int, default=7
            Members shown for each cluster, from the nearest to the farthest.

        Returns
        -------
        GalleryDisplay
            Itself.
        """
        k = len(self.exemplars)
        columns = -(-k // STRIPS)
        lines = -(-k // columns)
        map_side = HEIGHT - TITLES
        down, across = self._pitch
        strip_width = min(map_side, map_side / (lines + 1) / down * (members + 3) * across)
        widths = [map_side] + [strip_width] * columns
        self.figure_ = blank_figure(sum(widths), HEIGHT) if figure is None else figure
        axes = self.figure_.subplots(1, columns + 1, width_ratios=widths)
        self.map_ax_, self.strip_axes_ = axes[0], list(axes[1:])
        colours = cluster_colours(self.positions[self.exemplars])
        self._draw_map(colours)
        order = np.argsort(-np.bincount(self.labels, minlength=k), kind="stable")
        for i, ax in enumerate(self.strip_axes_):
            self._draw_strips(ax, order[i * lines : (i + 1) * lines], colours, members)
            ax.set_ylim(lines * down, -0.5 * down)
        self._write_titles()
        return self

    def _write_titles(self) -> None:
        if self.title is not None:
            self.figure_.suptitle(
                self.title, x=0.008, ha="left", fontsize=18, fontweight="bold", color=INK
            )
        if self.subtitle is not None:
            self.map_ax_.set_title(self.subtitle, loc="left", fontsize=12, color=INK)
        if self.note is not None:
            self.map_ax_.set_xlabel(self.note, loc="left", fontsize=10, color=INK)

    @property
    def _pitch(self) -> tuple[float, float]:
        """Height and width of an image in a strip, with the space around it."""
        height, width = self.images.shape[1:]
        return 1.25 * height, 1.15 * width

    def _draw_map(self, colours: NDArray[np.str_]) -> None:
        ax = self.map_ax_
        ax.scatter(
            *self.positions.T, s=20, c=colours[self.labels], alpha=0.75, linewidths=0,
            rasterized=True,
        )  # fmt: skip
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        places = self.positions[self.exemplars]
        side = THUMBNAIL * float(np.ptp(self.positions, axis=0).max() or 1.0)
        for q, start, end in zip(self.exemplars, places, spread(places, 1.15 * side), strict=True):
            colour = str(colours[self.labels[q]])
            ax.plot(*np.stack([start, end]).T, color=INK, linewidth=1.0, zorder=3)
            _draw_image(ax, self.images[q], end - side / 2, (side, side), colour)
        ax.margins(0.01)
        ax.autoscale_view()

    def _draw_strips(
        self, ax: Axes, clusters: NDArray[np.intp], colours: NDArray[np.str_], members: int
    ) -> None:
        down, across = self._pitch
        height, width = self.images.shape[1:]
        gap = 0.5 * width
        for line, c in enumerate(clusters):
            exemplar, rows = self.exemplars[c], np.flatnonzero(self.labels == c)
            rows = rows[rows != exemplar]
            rows = rows[np.argsort(self.distances[rows], kind="stable")]
            shown = rows[np.linspace(0, len(rows) - 1, min(members, len(rows))).round().astype(int)]
            top = line * down
            for i, row in enumerate(shown):
                corner = np.array([across + gap + i * across, top + height])
                _draw_image(ax, self.images[row], corner, (width, -height), None)
            corner = np.array([0.0, top + height])
            _draw_image(ax, self.images[exemplar], corner, (width, -height), str(colours[c]))
            ax.text(
                across + gap + members * across + 0.1 * width, top + height / 2,
                f"{len(rows) + 1}", va="center", fontsize=9.5, color=INK,
            )  # fmt: skip
        ax.set_xlim(-0.15 * width, across + gap + members * across + 1.8 * width)
        ax.set_aspect("equal", anchor="N")
        ax.axis("off")
        for x, text in (
            (0.0, "exemplar"),
            (across + gap, "members, nearest to farthest"),
            (across + gap + members * across, "size"),
        ):
            ax.text(x, -0.25 * height, text, fontsize=8.5, color=INK)


def spread(places: NDArray[np.float64], side: float, steps: int = 400) -> NDArray[np.float64]:
    """Move centres of squares apart until none overlap, each as little as the others allow.

    Every step pushes each overlapping pair along the axis in which it overlaps least.
    """
    centres = np.array(places, dtype=np.float64)
    first, second = np.triu_indices(len(centres), k=1)
    for _ in range(steps):
        away = centres[second] - centres[first]
        overlap = side - np.abs(away)
        touching = (overlap > 1e-9 * side).all(axis=1)
        if not touching.any():
            break
        axis = overlap.argmin(axis=1)
        push = np.zeros_like(away)
        pairs = np.flatnonzero(touching)
        # Equal places have no direction of their own: the later one goes up or right.
        direction = np.where(away[pairs, axis[pairs]] < 0, -1.0, 1.0)
        push[pairs, axis[pairs]] = 0.26 * overlap[pairs, axis[pairs]] * direction
        np.add.at(centres, second, push)
        np.add.at(centres, first, -push)
    return centres


def _draw_image(
    ax: Axes,
    image: NDArray[np.float64],
    corner: NDArray[np.float64],
    size: tuple[float, float],
    frame: str | None,
) -> None:
    """Draw one image, dark on white, with its lower left corner at `corner`."""
    from matplotlib.patches import Rectangle

    x, y = corner
    width, height = size
    ax.imshow(
        image, cmap="gray_r", extent=(x, x + width, y, y + height), aspect=ax.get_aspect(),
        interpolation="nearest", zorder=4,
    )  # fmt: skip
    ax.add_patch(
        Rectangle(
            (x, y), width, height, fill=False, zorder=5,
            edgecolor=frame or "#dddddd", linewidth=2.6 if frame else 0.5,
        )
    )  # fmt: skip
