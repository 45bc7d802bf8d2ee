"""Which rules block. Data, not code: one set, read by the chain alone.

Blocking rejects a submission for good and no reviewer ever sees it, so a rule is in this set only where three
things hold: the match is exact and not an estimate, no honest memory needs what it matches, and showing it
to a reviewer would itself do harm or deceive.

* **Tag characters, bidi overrides, decoded hidden text.** They make the text that a reviewer reads differ
from the
  text that an agent reads. Review is the control of this product, and these are aimed at review. No
  language needs them: the flags of England, Scotland and Wales, the one everyday use of tag characters, are
  recognised and clean, and right-to-left writing needs marks and isolates at most, which only flag.
* **Private keys and credentials of a known form.** A memory is copied to every reader, into exports and
backups; a
  key in it is a leak whoever ratifies it, and asking a reviewer shows it to one more person. The author can
  send the same memory again without the key. A form is known if its issuer gave it a prefix or a structure;
  what merely looks random beside the word "password" is a guess and only flags.

Everything else flags: zero-width characters, selectors, soft hyphens, isolates, private use, look-alike
letters and full-width words have honest uses, and a reviewer who is shown where they stand can tell.
"""

from __future__ import annotations

BLOCKING_RULES: frozenset[str] = frozenset(
    {
        "unicode.bidi_override",
        "unicode.hidden_text",
        "unicode.tag_characters",
        "secrets.anthropic_key",
        "secrets.aws_access_key",
        "secrets.aws_secret_key",
        "secrets.azure_storage_key",
        "secrets.connection_string",
        "secrets.github_token",
        "secrets.gitlab_token",
        "secrets.google_key",
        "secrets.json_web_token",
        "secrets.oml_key",
        "secrets.openai_key",
        "secrets.private_key",
        "secrets.registry_token",
        "secrets.service_token",
        "secrets.slack_token",
        "secrets.stripe_key",
    }
)
