"""A home lane for every key that was issued before keys had one."""

import uuid

from django.db import migrations

# As memory.records.rules.SEEDED was when this was written.
SEEDED = {"documentary": 80, "observed": 70, "testimonial": 60, "conversational": 50, "inferred": 30}


def make_missing(apps, schema_editor):
    Key = apps.get_model("workareas", "Key")
    Lane = apps.get_model("memory", "Lane")
    SourceType = apps.get_model("memory", "SourceType")
    for key in Key.objects.filter(home_lane=None).iterator(chunk_size=500):
        lane = Lane.objects.create(
            uuid=uuid.uuid4(),
            tenant_id=key.tenant_id,
            owner_id=key.principal_id,
            home_of=key,
            label=f"home/{key.pk}",
        )
        SourceType.objects.bulk_create(
            SourceType(lane=lane, name=name, authority=authority) for name, authority in SEEDED.items()
        )


class Migration(migrations.Migration):

    dependencies = [
        ("memory", "0010_record_chunk_vectors"),
        ("workareas", "0002_key_sponsor"),
    ]

    operations = [
        migrations.RunPython(make_missing, migrations.RunPython.noop),
    ]
