"""The common schema: one truth each for events, clips and question-answer items."""
