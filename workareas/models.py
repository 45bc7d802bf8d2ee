"""Who and where: tenants, principals, keys, grants, workareas. Rows only; rules live beside this file."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractBaseUser, BaseUserManager, PermissionsMixin
from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from guardian.models import GroupObjectPermissionBase, UserObjectPermissionBase

from oml.core.actor import Role
from oml.core.ids import new_id
from workareas.ladder import Status
from workareas.verbs import Capability
from workareas.words import BanKind, Effect, PrincipalKind


def tenant_id() -> str:
    return new_id("ten")


def principal_id() -> str:
    return new_id("pri")


def key_id() -> str:
    return new_id("key")


def grant_id() -> str:
    return new_id("gr")


def workarea_id() -> str:
    return new_id("wa")


def _choices(enum: Any) -> list[tuple[str, str]]:
    return [(str(item), str(item)) for item in enum]


class Tenant(models.Model):
    """The isolation boundary: one root workarea, one journal, one permission epoch."""

    id = models.CharField(primary_key=True, max_length=40, default=tenant_id)
    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    relaxed_review = models.BooleanField(
        default=False,
        help_text="development workareas may let an author ratify their own work, marked self-signed",
    )
    writes_per_minute = models.PositiveIntegerField(null=True, blank=True)
    reads_per_minute = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.slug


class PrincipalManager(BaseUserManager["Principal"]):
    def create_principal(
        self,
        *,
        tenant: Tenant,
        username: str,
        name: str,
        kind: str,
        password: str | None = None,
        **extra: Any,
    ) -> Principal:
        """Create an identity; without a password it can never sign in."""
        principal = self.model(tenant=tenant, username=username, name=name, kind=kind, **extra)
        if password is None:
            principal.set_unusable_password()
        else:
            principal.set_password(password)
        principal.save(using=self._db)
        return principal


class Principal(AbstractBaseUser, PermissionsMixin):
    """An identity. Humans sign in; agents and services hold keys and have an unusable password."""

    id = models.CharField(primary_key=True, max_length=40, default=principal_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="principals")
    username = models.CharField(max_length=150, unique=True)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=10, choices=PrincipalKind.choices)
    email = models.EmailField(blank=True, default="")
    is_active = models.BooleanField(default=True)
    is_staff = models.BooleanField(default=False, help_text="may open the admin console")
    created_at = models.DateTimeField(default=timezone.now)

    objects = PrincipalManager()

    USERNAME_FIELD = "username"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    def __str__(self) -> str:
        return self.name

    def get_full_name(self) -> str:
        return self.name

    def get_short_name(self) -> str:
        return self.name


class Key(models.Model):
    """A credential of one principal. The secret is shown once; its SHA-256 is what is stored."""

    id = models.CharField(primary_key=True, max_length=40, default=key_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="keys")
    principal = models.ForeignKey(Principal, on_delete=models.PROTECT, related_name="keys")
    sponsor = models.ForeignKey(
        Principal,
        on_delete=models.PROTECT,
        null=True,
        related_name="sponsored_keys",
        help_text="who issued it; R2 counts a key as its sponsor's hand too. Null for a tenant's first keys",
    )
    role = models.CharField(max_length=10, choices=_choices(Role))
    interactive = models.BooleanField(
        default=False,
        help_text="a signed-in human's key: no secret, so that every act has a (key, principal)",
    )
    secret_digest = models.BinaryField(null=True, unique=True)
    last_four = models.CharField(max_length=4, blank=True, default="")
    previous_digest = models.BinaryField(null=True, unique=True)
    previous_expires_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="key_interactive_has_no_secret",
                condition=Q(interactive=True, secret_digest__isnull=True)
                | Q(interactive=False, secret_digest__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["principal"], condition=Q(interactive=True), name="key_one_interactive_per_principal"
            ),
        ]
        indexes = [models.Index(fields=["tenant", "-id"], name="key_newest")]

    def __str__(self) -> str:
        return self.id


class Workarea(models.Model):
    """A node of the tenant's tree under ``universe``. The path is derived and rewritten on reassign."""

    id = models.CharField(primary_key=True, max_length=40, default=workarea_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="workareas")
    parent = models.ForeignKey("self", on_delete=models.PROTECT, null=True, related_name="children")
    leaf = models.CharField(max_length=64)
    path = models.TextField()
    status = models.CharField(max_length=12, choices=_choices(Status), default=Status.DEVELOPMENT)
    crew_name = models.CharField(max_length=200, null=True, default=None)
    crew_charter_uri = models.CharField(max_length=2000, null=True, default=None)
    crew_external_manager = models.CharField(max_length=200, null=True, default=None)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            # Always true, and there for a reason: Postgres takes the columns of a unique index without a condition for
            # ones that foreign keys may point at, and locks a row whose path is rewritten against every artifact that
            # is just being added to it; reassign and submit would wait for each other.
            models.UniqueConstraint(fields=["tenant", "path"], condition=Q(path__gt=""), name="workarea_path_unique"),
            models.UniqueConstraint(fields=["tenant"], condition=Q(parent=None), name="workarea_one_root"),
            models.CheckConstraint(
                name="workarea_leaf_grammar", condition=Q(leaf__regex=r"^[a-z0-9]([a-z0-9-]{0,62}[a-z0-9])?$")
            ),
            models.CheckConstraint(name="workarea_own_parent", condition=Q(parent__isnull=True) | ~Q(parent=F("id"))),
        ]
        indexes = [
            models.Index(F("tenant"), OpClass(F("path"), name="text_pattern_ops"), name="workarea_path_prefix"),
        ]
        permissions = [
            (f"{prefix}{name}", f"{'Denied: ' if prefix else ''}{label}")
            for prefix in ("", "deny_")
            for name, label in (
                ("read", "read promoted memories of the subtree"),
                ("review", "review submissions of the subtree"),
                ("administer", "administer the subtree"),
                ("persistence_read", "inspect agent state in the subtree"),
                ("persistence_delete", "delete agent state in the subtree"),
            )
        ]

    def __str__(self) -> str:
        return self.path

    @property
    def is_root(self) -> bool:
        return self.parent_id is None


class WorkareaUserPermission(UserObjectPermissionBase):
    """django-guardian's row for a human on a workarea; read by ``workareas/access.py`` alone."""

    content_object = models.ForeignKey(Workarea, on_delete=models.CASCADE)


class WorkareaGroupPermission(GroupObjectPermissionBase):
    """django-guardian's row for a group of humans on a workarea; read by ``workareas/access.py`` alone."""

    content_object = models.ForeignKey(Workarea, on_delete=models.CASCADE)


class Grant(models.Model):
    """A capability allowed or denied to a key over a workarea's subtree; deny wins (D7)."""

    id = models.CharField(primary_key=True, max_length=40, default=grant_id)
    key = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="grants")
    workarea = models.ForeignKey(Workarea, on_delete=models.PROTECT, related_name="grants")
    capability = models.CharField(max_length=10, choices=_choices(Capability))
    effect = models.CharField(max_length=5, choices=Effect.choices, default=Effect.ALLOW)
    granted_by = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+")
    journal_seq = models.BigIntegerField(null=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key", "workarea", "capability", "effect"], name="grant_unique"),
        ]

    def __str__(self) -> str:
        return self.id


class ReviewPolicy(models.Model):
    """What one workarea sets of its review policy; null means inherited."""

    workarea = models.OneToOneField(Workarea, on_delete=models.PROTECT, primary_key=True, related_name="policy")
    held_expiry_s = models.PositiveIntegerField(null=True)
    min_verdicts = models.PositiveSmallIntegerField(null=True)
    self_signed_allowed = models.BooleanField(null=True)
    serve_ttl_s = models.PositiveIntegerField(null=True)
    lineage_exclusion = models.BooleanField(null=True)
    reason_required = models.BooleanField(null=True)
    version = models.PositiveIntegerField(default=0)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "review policies"

    def __str__(self) -> str:
        return f"{self.workarea_id}, version {self.version}"


class IdempotencyRecord(models.Model):
    """The stored answer of one successful write (D13); one record for MCP and HTTP."""

    key = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+")
    workarea = models.ForeignKey(Workarea, on_delete=models.PROTECT, related_name="+")
    idempotency_key = models.CharField(max_length=128)
    fingerprint = models.BinaryField()
    response = models.JSONField()
    subject_id = models.CharField(max_length=40, db_index=True)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key", "workarea", "idempotency_key"], name="idempotency_key_unique"),
        ]


class StatedReason(models.Model):
    """Why somebody did something, in words; the journal carries only a commitment, erasure takes the words."""

    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="+")
    subject_id = models.CharField(max_length=40, db_index=True)
    act = models.CharField(max_length=40)
    text = models.TextField()
    salt = models.BinaryField()
    key = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)


def ban_id() -> str:
    return new_id("ban")


class Ban(models.Model):
    """What admission refuses: an author by key or principal, a text by digest, an artifact as a source."""

    id = models.CharField(primary_key=True, max_length=40, default=ban_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="bans")
    kind = models.CharField(max_length=10, choices=BanKind.choices)
    value = models.CharField(max_length=128)
    created_by = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["tenant", "kind", "value"], name="ban_unique")]

    def __str__(self) -> str:
        return self.id


def simulation_id() -> str:
    return new_id("sim")


class Simulation(models.Model):
    """A fence: rows that carry its id are served only to the keys of its audience, while it is open (D10)."""

    id = models.CharField(primary_key=True, max_length=40, default=simulation_id)
    tenant = models.ForeignKey(Tenant, on_delete=models.PROTECT, related_name="simulations")
    name = models.CharField(max_length=200)
    audience = models.ManyToManyField(Key, related_name="simulations")
    created_by = models.ForeignKey(Key, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.id
