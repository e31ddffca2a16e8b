"""Pictures of clips and datasets, and the page about a clip."""
