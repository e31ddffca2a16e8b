"""Score the outputs of a system against labels: from paths to a report."""

from __future__ import annotations

from seldio.scoring.labels import score_labels
from seldio.scoring.options import SeldOptions

__all__ = ["SeldOptions", "score_labels"]
