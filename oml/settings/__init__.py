"""Django's settings: one module a stage, chosen by ``OML_ENV``; nothing else decides.

``DJANGO_SETTINGS_MODULE=oml.settings`` everywhere. An unknown stage stops here.
"""

from __future__ import annotations

from oml.settings.base import ENVIRONMENT
from oml.startup.env import Stage

match ENVIRONMENT.stage:
    case Stage.PRODUCTION:
        from oml.settings.production import *
    case Stage.TEST:
        from oml.settings.test import *
    case Stage.DEV:
        from oml.settings.dev import *
