"""The console knows that records are there, and not one word of them."""

from __future__ import annotations

import pytest

from memory.records.models import RecordEntry
from tests.support.people import human, said
from tests.support.records import Records
from tests.support.world import World

pytestmark = pytest.mark.django_db


def test_admin__of_records__shows_that_they_are_and_nothing_they_say(world: World) -> None:
    records, admin = Records(world), human(world, "admin", name="ada", staff=True)
    sr_id = records.ingest("kumquat", properties=["kumquat:1"], source_system="kumquat")
    records.update(sr_id, content="kumquat two", note="kumquat note")
    entry = RecordEntry.objects.get(version=1)
    for place in ("record/", f"record/{sr_id}/change/", "recordentry/", f"recordentry/{entry.pk}/change/"):
        page = admin.get(f"/admin/memory/{place}")
        assert page.status_code == 200, place
        assert sr_id in said(page)
        assert "kumquat" not in page.content.decode()
    assert str(records.read(sr_id)["lane_uuid"]) in said(admin.get("/admin/memory/lane/"))
    assert admin.post(f"/admin/memory/record/{sr_id}/change/", source_type="x").status_code == 403
    filtered = admin.get("/admin/memory/recordentry/", note__startswith="k")
    assert filtered.status_code != 200 or sr_id not in said(filtered)


def test_admin__of_another_tenant__has_none_of_them(world: World) -> None:
    sr_id = Records(World.build("globex")).ingest("theirs")
    admin = human(world, "admin", name="ada", staff=True)
    assert sr_id not in said(admin.get("/admin/memory/record/"))
    assert admin.get(f"/admin/memory/record/{sr_id}/change/").status_code != 200
