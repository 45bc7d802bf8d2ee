"""What can go wrong with secrets and signatures."""

from __future__ import annotations

from oml.core.errors import Unavailable


class SecretUnusable(Unavailable):
    """A secret file is missing, malformed, too widely readable, or not meant for this deployment.

    The wire says ``internal.unavailable`` and nothing more; ``str()`` of the error is the sentence for the
    person who runs the deployment. It names the file and the remedy, never anything from inside the file.
    """

    def __init__(self, detail: str) -> None:
        super().__init__()
        self.detail = detail

    def __str__(self) -> str:
        return self.detail


class EnvelopeInvalid(ValueError):
    """An envelope does not verify. Fail closed: no part of its payload may be used.

    Not a refusal of the API: envelopes are made here and read back here or by a verifier, no caller sends
    one.
    """
