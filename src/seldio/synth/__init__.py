"""Synthetic scenes: sources that move, pause and overlap as in the real recordings, made with a seed.

A scene is a list of :class:`Track`. What it sounds like in both array formats is :mod:`seldio.synth.recording`,
what it looks like :mod:`seldio.synth.pictures`, and a data set of scenes :mod:`seldio.synth.tree`.
"""

from __future__ import annotations

from seldio.synth.scenes import CLIPS, Track, labels, scene

__all__ = ["CLIPS", "Track", "labels", "scene"]
