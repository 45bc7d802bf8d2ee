"""``python -m oml.embedded run|stop``; ``keep-database`` is for supervisord."""

from __future__ import annotations

import sys

from django.core.exceptions import ImproperlyConfigured

from oml.embedded import run
from oml.embedded.binaries import NoPostgres
from oml.embedded.cluster import PostgresFailed
from oml.embedded.ownership import AlreadyRunning

COMMANDS = {"run": run.run, "stop": run.stop, "keep-database": run.keep_database}


def main(argv: list[str]) -> int:
    """Runs one command; what a person can mend is one sentence and exit code 1, no traceback."""
    if len(argv) != 1 or argv[0] not in COMMANDS:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        return COMMANDS[argv[0]]()
    except (run.Failed, AlreadyRunning, PostgresFailed, NoPostgres, ImproperlyConfigured) as problem:
        print(f"oml: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
