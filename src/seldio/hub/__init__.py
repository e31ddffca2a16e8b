"""The Hugging Face Hub: datasets sent (:func:`push`), fetched (:func:`pull`) and read in place (``hf://``).

This package is the one home of ``huggingface_hub``, and the only place of seldio that reaches a network, but for the
judge. ``HF_ENDPOINT`` and the other settings of that library hold; the token is that of ``HF_TOKEN`` or of
``hf auth login``.
"""

from __future__ import annotations

from seldio.errors import needing

with needing("huggingface_hub"):
    from seldio.hub.card import About
    from seldio.hub.pushing import Pushed, push
    from seldio.hub.repository import Pulled, pull

__all__ = ["About", "Pulled", "Pushed", "pull", "push"]
