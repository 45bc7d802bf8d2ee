"""Source records: a ledger that only grows, its cache, and content beside it."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.utils.timezone
import memory.records.models
import uuid
from django.conf import settings
from django.db import migrations, models


FORWARD = """
CREATE FUNCTION record_entry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger of records is append-only: % is refused', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER record_entry_no_change BEFORE UPDATE OR DELETE ON memory_recordentry
    FOR EACH ROW EXECUTE FUNCTION record_entry_refuse_change();
CREATE TRIGGER record_entry_no_truncate BEFORE TRUNCATE ON memory_recordentry
    FOR EACH STATEMENT EXECUTE FUNCTION record_entry_refuse_change();
"""
BACKWARD = """
DROP TRIGGER record_entry_no_truncate ON memory_recordentry;
DROP TRIGGER record_entry_no_change ON memory_recordentry;
DROP FUNCTION record_entry_refuse_change();
"""


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0003_read_log_append_only'),
        ('workareas', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ContentBlob',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tenant_id', models.CharField(max_length=40)),
                ('sr_id', models.CharField(max_length=35)),
                ('sha256', models.CharField(max_length=64)),
                ('size', models.BigIntegerField()),
                ('salt', models.BinaryField(help_text="of the journal's commitments to the content")),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('sr_id', 'sha256'), name='content_blob_unique')],
            },
        ),
        migrations.CreateModel(
            name='Engine',
            fields=[
                ('only', models.BooleanField(default=True, primary_key=True, serialize=False)),
                ('engine_id', models.CharField(default=memory.records.models.engine_identity, max_length=64)),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('only', True)), name='engine_is_one')],
            },
        ),
        migrations.CreateModel(
            name='Lane',
            fields=[
                ('uuid', models.UUIDField(default=uuid.uuid4, primary_key=True, serialize=False)),
                ('tenant_id', models.CharField(max_length=40)),
                ('label', models.CharField(max_length=100)),
                ('default_source_type', models.CharField(default='conversational', max_length=64)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('home_of', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='home_lane', to='workareas.key')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='lanes', to=settings.AUTH_USER_MODEL)),
                ('workarea', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workareas.workarea')),
            ],
        ),
        migrations.CreateModel(
            name='Record',
            fields=[
                ('sr_id', models.CharField(max_length=35, primary_key=True, serialize=False)),
                ('tenant_id', models.CharField(max_length=40)),
                ('source_type', models.CharField(max_length=64)),
                ('authority', models.PositiveSmallIntegerField()),
                ('source_system', models.CharField(max_length=256)),
                ('first_engine', models.CharField(max_length=64)),
                ('ingested_at', models.DateTimeField()),
                ('version', models.PositiveIntegerField()),
                ('written_at', models.DateTimeField()),
                ('head_id', models.BigIntegerField(help_text='the entry this row repeats')),
                ('content_sha256', models.CharField(max_length=64)),
                ('size', models.BigIntegerField()),
                ('deleted', models.BooleanField(default=False)),
                ('lane', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='records', to='memory.lane')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='RecordEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tenant_id', models.CharField(max_length=40)),
                ('sr_id', models.CharField(max_length=35)),
                ('version', models.PositiveIntegerField()),
                ('engine_id', models.CharField(db_collation='C', max_length=64)),
                ('event_id', models.CharField(db_collation='C', max_length=40)),
                ('written_at', models.DateTimeField()),
                ('author_key_id', models.CharField(max_length=40)),
                ('state', models.JSONField()),
                ('content_sha256', models.CharField(max_length=64)),
                ('size', models.BigIntegerField(help_text='bytes of the content')),
                ('deleted', models.BooleanField(default=False)),
                ('change', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), default=list, size=None)),
                ('note', models.TextField(null=True)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name_plural': 'record entries',
            },
        ),
        migrations.CreateModel(
            name='RecordGroup',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tenant_id', models.CharField(max_length=40)),
                ('name', models.CharField(max_length=100)),
                ('created_at', models.DateTimeField(default=django.utils.timezone.now)),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='RecordGroupMember',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('sr_id', models.CharField(max_length=35)),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='members', to='memory.recordgroup')),
            ],
        ),
        migrations.CreateModel(
            name='RecordLink',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('tenant_id', models.CharField(max_length=40)),
                ('kind', models.CharField(choices=[('correction', 'correction'), ('adjustment', 'adjustment')], max_length=10)),
                ('from_sr', models.CharField(max_length=35, unique=True)),
                ('to_sr', models.CharField(max_length=35)),
                ('linked_at', models.DateTimeField()),
            ],
            options={
                'indexes': [models.Index(fields=['to_sr', 'id'], name='record_link_target')],
            },
        ),
        migrations.CreateModel(
            name='RecordProperty',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ordinal', models.PositiveSmallIntegerField()),
                ('label', models.CharField(max_length=64)),
                ('value', models.CharField(max_length=1000)),
                ('record', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='properties', to='memory.record')),
            ],
            options={
                'verbose_name_plural': 'record properties',
            },
        ),
        migrations.CreateModel(
            name='SourceType',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(max_length=64)),
                ('authority', models.PositiveSmallIntegerField()),
                ('lane', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='source_types', to='memory.lane')),
            ],
        ),
        migrations.CreateModel(
            name='ContentPiece',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('ordinal', models.PositiveIntegerField()),
                ('data', models.BinaryField()),
                ('blob', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='pieces', to='memory.contentblob')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('blob', 'ordinal'), name='content_piece_unique')],
            },
        ),
        migrations.AddConstraint(
            model_name='lane',
            constraint=models.UniqueConstraint(fields=('tenant_id', 'owner', 'label'), name='lane_label_unique'),
        ),
        migrations.AddIndex(
            model_name='record',
            index=models.Index(condition=models.Q(('deleted', False)), fields=['owner', 'ingested_at', 'sr_id'], name='record_timeline'),
        ),
        migrations.AddConstraint(
            model_name='recordentry',
            constraint=models.UniqueConstraint(fields=('sr_id', 'version', 'engine_id', 'event_id'), name='record_entry_unique'),
        ),
        migrations.AddConstraint(
            model_name='recordgroup',
            constraint=models.UniqueConstraint(fields=('tenant_id', 'owner', 'name'), name='record_group_unique'),
        ),
        migrations.AddConstraint(
            model_name='recordgroupmember',
            constraint=models.UniqueConstraint(fields=('group', 'sr_id'), name='record_group_member_unique'),
        ),
        migrations.AddIndex(
            model_name='recordproperty',
            index=models.Index(fields=['label', 'value'], name='record_property_value'),
        ),
        migrations.AddConstraint(
            model_name='recordproperty',
            constraint=models.UniqueConstraint(fields=('record', 'label', 'value'), name='record_property_unique'),
        ),
        migrations.AddConstraint(
            model_name='sourcetype',
            constraint=models.UniqueConstraint(fields=('lane', 'name'), name='source_type_unique'),
        ),
        migrations.AddConstraint(
            model_name='sourcetype',
            constraint=models.CheckConstraint(condition=models.Q(('authority__lte', 100)), name='source_type_authority'),
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
