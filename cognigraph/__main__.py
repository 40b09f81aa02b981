"""Run the command line with ``python -m``."""

import sys

from cognigraph.cli import main

if __name__ == "__main__":
    sys.exit(main())
