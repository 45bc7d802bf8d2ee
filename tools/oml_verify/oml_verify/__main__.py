"""``python -m oml_verify``: the same as the installed command."""

import sys

from oml_verify.cli import main

sys.exit(main())
