"""Erasure of source records: the ledger's trigger lets the words of an erased record's entries go, and nothing else.

The rows are changed by a function that runs as the tables' owner, because the server's own role may only add to the
ledger (docs/operations/database-roles.md). It does nothing for a record that is not in the register of erasures, and
that register only grows.
"""

import django.utils.timezone
from django.db import migrations, models

FORWARD = """
CREATE OR REPLACE FUNCTION record_entry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND TG_TABLE_NAME = 'memory_recordentry' THEN
        IF NEW.note IS NULL
           AND NEW.state = OLD.state || '{"properties": [], "connections": [], "source_system": ""}'::jsonb
           AND to_jsonb(NEW) - 'note' - 'state' = to_jsonb(OLD) - 'note' - 'state'
           AND EXISTS (SELECT 1 FROM memory_recorderasure e WHERE e.sr_id = OLD.sr_id)
        THEN
            RETURN NEW;
        END IF;
    END IF;
    RAISE EXCEPTION 'the ledger of records is append-only: % is refused', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER record_erasure_no_change BEFORE UPDATE OR DELETE ON memory_recorderasure
    FOR EACH ROW EXECUTE FUNCTION record_entry_refuse_change();
CREATE TRIGGER record_erasure_no_truncate BEFORE TRUNCATE ON memory_recorderasure
    FOR EACH STATEMENT EXECUTE FUNCTION record_entry_refuse_change();
CREATE FUNCTION record_entries_forget(record text) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    touched integer;
BEGIN
    UPDATE memory_recordentry
    SET note = NULL, state = state || '{"properties": [], "connections": [], "source_system": ""}'::jsonb
    WHERE sr_id = record;
    GET DIAGNOSTICS touched = ROW_COUNT;
    RETURN touched;
END
$$;
"""
BACKWARD = """
DROP FUNCTION record_entries_forget(text);
DROP TRIGGER record_erasure_no_truncate ON memory_recorderasure;
DROP TRIGGER record_erasure_no_change ON memory_recorderasure;
CREATE OR REPLACE FUNCTION record_entry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the ledger of records is append-only: % is refused', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END
$$;
"""


class Migration(migrations.Migration):

    dependencies = [
        ("memory", "0011_home_lanes"),
    ]

    operations = [
        migrations.CreateModel(
            name="RecordErasure",
            fields=[
                ("sr_id", models.CharField(max_length=35, primary_key=True, serialize=False)),
                ("tenant_id", models.CharField(max_length=40)),
                ("erased_at", models.DateTimeField(default=django.utils.timezone.now)),
            ],
        ),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
