"""What changed between two versions of labels or questions: ``seldio diff``."""
