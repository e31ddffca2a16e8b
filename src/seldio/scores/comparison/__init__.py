"""Several systems held against each other: differences with intervals, tests and ranks."""
