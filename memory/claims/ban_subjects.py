"""What a ban of an artifact may name: one of the tenant's own, in any state. Hooked into ``workareas``."""

from __future__ import annotations

from memory.claims.models import Artifact
from workareas.actions.bans import on_ban_of
from workareas.words import BanKind


@on_ban_of(BanKind.ARTIFACT)
def artifact_exists(tenant_id: str, artifact: str) -> bool:
    """Whether the tenant has this artifact; says nothing of who may read it."""
    return Artifact.objects.filter(pk=artifact, tenant_id=tenant_id).exists()
