"""The offline verifier of OML's evidence. It imports nothing of the server: it is the second opinion.

What must never happen here: a key taken from what is being verified, or a check that passes because its input was
missing.
"""

__version__ = "0.1.0"
