"""The journal is append-only for everybody, the application's own role included (D1)."""

from django.db import migrations

FORWARD = """
CREATE FUNCTION journal_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only (D1): % is refused', TG_OP USING ERRCODE = 'integrity_constraint_violation';
END
$$;
CREATE TRIGGER journal_no_change BEFORE UPDATE OR DELETE ON journal_journalentry
    FOR EACH ROW EXECUTE FUNCTION journal_refuse_change();
CREATE TRIGGER journal_no_truncate BEFORE TRUNCATE ON journal_journalentry
    FOR EACH STATEMENT EXECUTE FUNCTION journal_refuse_change();
"""
BACKWARD = """
DROP TRIGGER journal_no_truncate ON journal_journalentry;
DROP TRIGGER journal_no_change ON journal_journalentry;
DROP FUNCTION journal_refuse_change();
"""


class Migration(migrations.Migration):
    dependencies = [("journal", "0001_initial")]
    operations = [migrations.RunSQL(FORWARD, BACKWARD)]
