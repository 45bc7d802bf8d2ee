"""``python -m oml.embedded.test [--durable] -- COMMAND …``: runs a command on a throw-away Postgres of its own.

For benches and checks that need a database and must not touch the one of ``make run``. ``--durable`` lets commits
reach the disk, which costs time and is what production does. The exit code is the command's.
With ``DATABASE_URL`` set it runs on that.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from oml.embedded.throwaway import ThrowawayCluster


def main(argv: list[str] | None = None) -> int:
    """Runs the command; 2 when there is none."""
    words = sys.argv[1:] if argv is None else argv
    durable = words[:1] == ["--durable"]
    if durable:
        words = words[1:]
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        print(__doc__, file=sys.stderr)
        return 2
    if os.environ.get("DATABASE_URL"):
        return subprocess.run(words).returncode
    cluster = ThrowawayCluster(durable=durable)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return subprocess.run(words, env={**os.environ, **cluster.environment()}).returncode
    except KeyboardInterrupt:
        return 130
    finally:
        cluster.end()


if __name__ == "__main__":
    sys.exit(main())
