"""The web process: composition only. WSGI and threads, not ASGI: docs/adr/0003."""

from __future__ import annotations

import os

from django.core.wsgi import get_wsgi_application

from oml.http.chunked import read_to_the_end

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")

application = read_to_the_end(get_wsgi_application())
