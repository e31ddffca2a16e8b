"""Work on many parts: in this process, in several, or on a Ray cluster, with the same results in the same order.

Whoever has parts to work on calls :func:`each`. Where that happens is not their business: users say it once, around
the whole, with :func:`running`.
"""

from __future__ import annotations

from seldio.engines.parts import ENGINES, MOST, cut, each, running

__all__ = ["ENGINES", "MOST", "cut", "each", "running"]
