"""Small transparent pictures laid over panoramas: discs, rings and words."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from seldio.media.video import Picture
from seldio.pictures.canvas import style
from seldio.pictures.colours import ink, rgb

Share = np.ndarray[Any, np.dtype[np.uint16]]


class Sprite(NamedTuple):
    """A picture with how much of what is below shows through.

    Args:
        colour: red, green and blue times what covers, 0 to 255 · 256, shape (height, width, 3).
        below: what is left of the picture below, 0 to 256, shape (height, width, 1).
    """

    colour: Share
    below: Share

    @property
    def width(self) -> int:
        """In pixels."""
        return len(self.below[0])

    @property
    def height(self) -> int:
        """In pixels."""
        return len(self.below)


def _sprite(colour: Any, cover: Any) -> Sprite:
    """A sprite of colours (0 to 255) and of how much they cover (0 to 1)."""
    share = np.rint(np.asarray(cover)[..., None] * 256)
    return Sprite(np.asarray(np.rint(colour) * share, np.uint16), np.asarray(256 - share, np.uint16))


def paste(picture: Picture, sprite: Sprite, x: int, y: int) -> None:
    """Lay *sprite* on *picture*, its upper left corner at column *x* and row *y*.

    What sticks out at the left or right goes on at the other edge, as directions do behind the listener; what
    sticks out above or below is cut off.
    """
    height, width = picture.shape[:2]
    top, bottom = max(0, y), min(height, y + sprite.height)
    x %= width
    done = 0
    while top < bottom and done < min(sprite.width, width):
        start = (x + done) % width
        some = min(sprite.width - done, width - start)
        rows, columns = slice(top - y, bottom - y), slice(done, done + some)
        part = picture[top:bottom, start : start + some]
        part[:] = (part * sprite.below[rows, columns] + sprite.colour[rows, columns]) >> 8
        done += some


@functools.lru_cache(maxsize=256)
def disc(radius: int, colour: str) -> Sprite:
    """A filled circle with a white and a dark rim, centre in the middle; for references."""
    return _round(radius, colour, hollow=False)


@functools.lru_cache(maxsize=256)
def ring(radius: int, colour: str) -> Sprite:
    """A hollow circle with a dark rim inside and outside; for predictions."""
    return _round(radius, colour, hollow=True)


def _round(radius: int, colour: str, hollow: bool) -> Sprite:
    reach = radius + 3
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    away = np.hypot(x, y)
    rim = max(2.0, radius / 4)
    inside = _within(away, radius)
    cover = _within(away, radius + 1.5) - (_within(away, radius - rim - 1.5) if hollow else 0.0)
    shown = inside - (_within(away, radius - rim) if hollow else 0.0)
    dark, own = np.array([20.0, 20.0, 20.0]), np.array(rgb(colour), np.float64)
    mixed = own * shown[..., None] + dark * (1 - shown[..., None])
    if not hollow:  # a thin white line apart from the dark one: seen on any ground
        edge = _within(away, radius) - _within(away, radius - 1)
        mixed = mixed * (1 - edge[..., None]) + 255.0 * edge[..., None]
    return _sprite(mixed, np.clip(cover, 0, 1))


def _within(away: Any, radius: float) -> Any:
    """How much of each pixel lies within *radius*, smooth at the edge."""
    return np.clip(radius + 0.5 - away, 0.0, 1.0)


@functools.lru_cache(maxsize=512)
def words(text: str, pixels: float, colour: str, hollow: bool = False) -> Sprite:
    """*text* on a plate: on its colour, or in outline on black where *hollow* (predictions).

    Args:
        text: printable, one line.
        pixels: height of the letters' body.
        colour: ``#rrggbb``.
        hollow: whether the plate is black with a line in the colour around it.
    """
    shape = _letters(text, pixels)
    pad = max(2, round(pixels / 5))
    inked = np.pad(shape, pad)
    ground, letters = ("#141414", "#ffffff") if hollow else (colour, ink(colour))
    share = inked[..., None]
    mixed = np.array(rgb(letters)) * share + np.array(rgb(ground)) * (1 - share)
    if hollow:
        for side in (mixed[:1], mixed[-1:], mixed[:, :1], mixed[:, -1:]):
            side[...] = rgb(colour)
    return _sprite(mixed, np.full(inked.shape, 0.88))


def _letters(text: str, pixels: float) -> Any:
    """How much ink each pixel of *text* has, 0 to 1, cut to the ink in width and to the body in height."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    with style():
        width = int(pixels * (len(text) + 2)) + 8
        figure = Figure(figsize=(width / 100, pixels * 2 / 100), dpi=100, facecolor="white")
        canvas: Any = FigureCanvasAgg(figure)
        figure.text(0.0, 0.5, text, fontsize=pixels * 0.72, va="center_baseline", ha="left", color="black")
        canvas.draw()
        shape = 1.0 - np.asarray(canvas.buffer_rgba())[..., 0] / 255.0
    used = np.flatnonzero(shape.any(axis=0))
    middle, half = shape.shape[0] // 2, round(pixels * 0.62)
    body = shape[middle - half : middle + half]
    return body[:, used[0] : used[-1] + 1] if len(used) else body[:, :1]
