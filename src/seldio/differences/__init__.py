"""Compare two versions of labels or questions: ``seldio diff``."""
