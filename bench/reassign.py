"""``make bench-reassign``: move a subtree of 10,000 promoted claims, beside the bare UPDATE of its paths.

One real claim goes through the product's doors; the others are copies of its rows, so that the index has its true
size. Recall is asked before and after: a claim is found where it is and nowhere else.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "oml.settings")

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection, models, transaction  # noqa: E402

from bench.recall_doors import Place  # noqa: E402
from memory.claims.models import Artifact  # noqa: E402
from memory.recall.commands import RecallCommand  # noqa: E402
from memory.recall.models import ServingRow  # noqa: E402
from memory.recall.selectors import recall  # noqa: E402
from workareas.actions.nodes import create_workarea  # noqa: E402
from workareas.actions.reassign import reassign  # noqa: E402

TEXT = "The aluminium quote of Accra Metals stands until the middle of November."


def main() -> int:
    """0 when recall was right before and after, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=int, default=10_000)
    claims = parser.parse_args().claims
    call_command("migrate", verbosity=0)
    place = Place.build("bench-reassign")
    here, there = place.workarea("here"), place.workarea("there")
    team = create_workarea(place.made.admin, parent=here, leaf="team")
    ids = place.load(team.path, [{"claim_key": "quote", "text": TEXT}], lambda: None)
    copy_claim(ids["quote"], claims - 1)
    right = asked(place, here) > 0 and asked(place, there) == 0
    bare = timed(lambda: bare_update(place, team.path))
    whole = timed(lambda: reassign(place.made.admin, workarea=team.pk, parent=there))
    right = right and asked(place, here) == 0 and asked(place, there) > 0
    print(f"claims in the subtree        {ServingRow.objects.filter(path=f'{there}.team').count():>10,}")
    print(f"reassign, one transaction    {whole * 1000:>10,.0f} ms")
    print(f"the bare UPDATE of its paths {bare * 1000:>10,.0f} ms")
    print(f"ratio                        {whole / bare:>10.2f}")
    print(f"recall before and after      {'right' if right else 'WRONG':>10}")
    return 0 if right else 1


def copy_claim(artifact: str, times: int) -> None:
    """Copy one promoted claim's rows under new ids and claim keys."""
    copy_rows(Artifact, artifact, "id", times, {"claim_key": "'quote-' || n"})
    copy_rows(ServingRow, artifact, "artifact_id", times, {})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def copy_rows(model: type[models.Model], artifact: str, key: str, times: int, changed: dict[str, str]) -> None:
    columns = [field.column for field in model._meta.concrete_fields if field.column != key]
    chosen = ", ".join(changed.get(column, f'r."{column}"') for column in columns)
    listed = ", ".join(f'"{column}"' for column in columns)
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} (\"{key}\", {listed}) SELECT 'art_bench_' || n, {chosen} "
            f'FROM {table} r, generate_series(1, %s) AS n WHERE r."{key}" = %s',
            [times, artifact],
        )


def asked(place: Place, scope: str) -> int:
    """How many claims recall finds below a node."""
    return len(recall(place.reader, command=RecallCommand(query="aluminium quote", scope=scope, k=50))["hits"])


def bare_update(place: Place, path: str) -> None:
    """The limit: rewrite the same paths in one statement, and take it back."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(
            "UPDATE memory_servingrow SET path = path || 'x' WHERE tenant_id = %s AND path = %s",
            [place.made.tenant.pk, path],
        )
        transaction.set_rollback(True)


def timed(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
