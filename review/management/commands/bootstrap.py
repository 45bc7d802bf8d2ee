"""``manage.py bootstrap``: the first tenant, with its operator and its first administrator."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from oml.core.errors import OmlError
from review.demo import SLUG, build_demo
from workareas.actions.tenants import provision_tenant
from workareas.selectors.tenants import tenant_exists


class Command(BaseCommand):
    help = (
        "Create a tenant with an operator key and a first admin key, or the demo tenant; a second run changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--tenant", help="short name of the tenant, such as acme")
        parser.add_argument("--name", help="its full name (default: the short name)")
        parser.add_argument("--demo", action="store_true", help="the demo tenant with people, keys and sample work")
        parser.add_argument("--write", type=Path, help="with --demo: JSON file for its ids and secrets, mode 0600")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["demo"]:
            self._demo(options["write"])
        elif options["tenant"]:
            self._tenant(options["tenant"], options["name"] or options["tenant"])
        else:
            raise CommandError("say --tenant NAME, or --demo")

    def _tenant(self, slug: str, name: str) -> None:
        if tenant_exists(slug):
            self.stdout.write(f"Tenant {slug} exists; nothing was changed. `manage.py issue_key --help` makes keys.")
            return
        try:
            made = provision_tenant(slug=slug, name=name)
        except OmlError as error:
            raise CommandError(error.message) from None
        self.stdout.write(
            f"Tenant {slug} ({made.tenant.pk}) with root workarea {made.root.pk}.\n"
            f"Operator key {made.operator.key_id}: {made.operator_secret}\n"
            f"Admin key    {made.admin.key_id}: {made.admin_secret}\n"
            "These secrets are shown this once."
        )

    def _demo(self, target: Path | None) -> None:
        if target is None:
            raise CommandError("--demo needs --write FILE: the secrets exist nowhere else")
        draft = target.with_name(target.name + ".draft")
        if tenant_exists(SLUG):
            if not target.exists() and draft.exists():
                draft.rename(target)  # killed between commit and rename: the draft is what was committed
            if not target.exists():
                raise CommandError(
                    f"the demo tenant exists but {target} is gone, and with it the secrets. "
                    "Remove the whole folder to start afresh, or make keys with `manage.py issue_key`."
                )
            self.stdout.write("The demo tenant is there already; nothing was changed.")
            return
        draft.unlink(missing_ok=True)
        with transaction.atomic():
            demo = build_demo()
            _write_private(draft, json.dumps(demo.as_dict(), indent=2))
        draft.rename(target)
        self.stdout.write(f"Made the demo tenant; ids and secrets are in {target}.")


def _write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
