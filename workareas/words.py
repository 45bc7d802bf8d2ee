"""Closed words of who and where that faces and rows share. Pure of the ORM's tables."""

from __future__ import annotations

from django.db import models


class PrincipalKind(models.TextChoices):
    AGENT = "agent"
    HUMAN = "human"
    SERVICE = "service"


class Effect(models.TextChoices):
    ALLOW = "allow"
    DENY = "deny"


class BanKind(models.TextChoices):
    KEY = "key"
    PRINCIPAL = "principal"
    DIGEST = "digest"
    ARTIFACT = "artifact"
