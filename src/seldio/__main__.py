"""``python -m seldio``."""

from seldio.cli import main

main()
