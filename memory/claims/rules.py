"""Limits and grammars of a submission (design: admission, The claim). Pure."""

from __future__ import annotations

import re

MAX_TEXT = 32_768
MAX_ATTACHMENTS = 16
MAX_LINEAGE = 64
MAX_EVIDENCE = 64
MAX_THREAD = 256

CLAIM_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}\Z")
IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,128}\Z")
