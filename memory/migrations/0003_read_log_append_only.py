"""The read log is append-only, and every insert says so before its ids are drawn (memory/recall/sealing.py)."""

from django.db import migrations, models

FORWARD = """
CREATE FUNCTION read_log_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the read log is append-only (D12): % is refused', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE FUNCTION read_log_in_flight() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(1450020105899554247);
    RETURN NULL;
END
$$;
CREATE TRIGGER read_log_no_change BEFORE UPDATE OR DELETE ON memory_readlog
    FOR EACH ROW EXECUTE FUNCTION read_log_refuse_change();
CREATE TRIGGER read_log_no_truncate BEFORE TRUNCATE ON memory_readlog
    FOR EACH STATEMENT EXECUTE FUNCTION read_log_refuse_change();
CREATE TRIGGER read_log_in_flight BEFORE INSERT ON memory_readlog
    FOR EACH STATEMENT EXECUTE FUNCTION read_log_in_flight();
"""
BACKWARD = """
DROP TRIGGER read_log_in_flight ON memory_readlog;
DROP TRIGGER read_log_no_truncate ON memory_readlog;
DROP TRIGGER read_log_no_change ON memory_readlog;
DROP FUNCTION read_log_in_flight();
DROP FUNCTION read_log_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("memory", "0002_initial")]
    operations = [
        migrations.AddIndex("readlog", models.Index(fields=["tenant_id", "id"], name="read_log_sealing")),
        migrations.RunSQL(FORWARD, BACKWARD),
    ]
