"""The product's settings and middleware over the laboratory URLs; only for the conformance server."""

from __future__ import annotations

from oml.settings import *  # noqa: F403

ROOT_URLCONF = "tests.support.conformance_urls"
