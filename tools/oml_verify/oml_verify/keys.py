"""The keys that the user trusts, from a file of theirs; never from what is verified."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from oml_verify import notes
from oml_verify.findings import Unusable
from oml_verify.strict import Malformed, parse, unbase64


@dataclass
class Trusted:
    """Raw Ed25519 public keys by purpose; ``named`` are C2SP verifier keys, bound to one log's name."""

    envelope: list[bytes] = field(default_factory=list)
    checkpoint: list[bytes] = field(default_factory=list)
    named: list[notes.Verifier] = field(default_factory=list)

    def verifiers(self, origin: str) -> list[notes.Verifier]:
        """The checkpoint keys as verifiers of one log."""
        return [notes.Verifier(origin, key) for key in self.checkpoint] + self.named


def read_keys(path: Path) -> Trusted:
    """Read ``GET /v1/deployment-keys``'s answer, a list of its items, or lines of C2SP verifier keys.

    Raises:
        Unusable: the file cannot be read, or holds no key.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {getattr(error, 'strerror', None) or 'not a text'}") from None
    trusted = Trusted()
    try:
        if text.lstrip()[:1] in ("{", "["):
            _from_json(text, trusted)
        else:
            trusted.named = [notes.verifier(line.strip()) for line in text.splitlines() if line.strip()]
    except (Malformed, KeyError, TypeError, AttributeError):
        raise Unusable(f"{path} is no list of public keys") from None
    if not (trusted.envelope or trusted.checkpoint or trusted.named):
        raise Unusable(f"{path} holds no key")
    return trusted


def _from_json(text: str, trusted: Trusted) -> None:
    document = parse(text)
    rows = document["items"] if isinstance(document, dict) else document
    for row in rows:
        if row.get("algorithm") != "ed25519":
            raise Malformed("another algorithm")
        key = unbase64(row["public_key"], 32)
        if row["purpose"] not in ("envelope", "checkpoint"):
            raise Malformed("another purpose")
        (trusted.envelope if row["purpose"] == "envelope" else trusted.checkpoint).append(key)
