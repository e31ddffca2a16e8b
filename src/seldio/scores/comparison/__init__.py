"""Several systems held against each other: differences with intervals, tests, ranks, and where they differ."""
