"""``python -m oml.crypto generate [--production] [DIR]``: lay down the secrets that are missing.

For whoever deploys: run it once, on the way to the secret store, not on a server. It prints names, never
contents.
"""

from __future__ import annotations

import argparse
import os
import sys

from oml.crypto.errors import SecretUnusable
from oml.crypto.secrets import Purpose, ensure_generated, secrets_dir


def main(argv: list[str] | None = None) -> int:
    """Run the command; the answer is the exit code."""
    parser = argparse.ArgumentParser(prog="python -m oml.crypto", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    generate = commands.add_parser("generate", help="create the secrets that are missing")
    generate.add_argument("folder", nargs="?", help="default: OML_SECRETS_DIR, else secrets under OML_HOME")
    generate.add_argument("--production", action="store_true", help="mark them as meant for production")
    chosen = parser.parse_args(argv)
    if chosen.folder:
        os.environ["OML_SECRETS_DIR"] = chosen.folder
    try:
        made = ensure_generated(purpose=Purpose.PRODUCTION if chosen.production else Purpose.DEVELOPMENT)
    except SecretUnusable as error:
        print(error, file=sys.stderr)
        return 1
    for name in made:
        print(f"created {secrets_dir() / f'{name.value}.json'}")
    if not made:
        print(f"nothing to do: {secrets_dir()} is complete")
    return 0


if __name__ == "__main__":
    sys.exit(main())
