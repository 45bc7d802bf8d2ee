"""The checker: what the rows say, read past the product, held against what clients were told."""

from __future__ import annotations

import json
from typing import Any

import psycopg
from psycopg.rows import dict_row

from oml.journal.hashing import GENESIS, chain_hash, leaf_hash
from tests.chaos.caller import History
from tests.chaos.installation import Installation


def rows(database: str, question: str, *values: object) -> list[dict[str, Any]]:
    with psycopg.connect(database, row_factory=dict_row) as connection:
        return connection.execute(question.encode(), values).fetchall()


def number(database: str, question: str, *values: object) -> int:
    (row,) = rows(database, question, *values)
    return int(next(iter(row.values())))


def waiting(database: str) -> int:
    """Outbox tasks, due or postponed."""
    return number(database, "SELECT count(*) FROM jobs_outboxtask")


def pending(database: str) -> int:
    """Held artifacts without a finished scan."""
    return number(
        database,
        "SELECT count(*) FROM memory_artifact WHERE state = 'held' AND scan_state IN ('pending', 'failed')",
    )


def assert_nothing_lost_or_doubled(database: str, tenant: dict[str, Any], history: History) -> None:
    """Every acknowledged claim is one row of its own tenant, and there is no row that nobody was told of."""
    assert history.contradictions == []
    told = history.of(tenant["id"])
    found = rows(
        database,
        "SELECT a.id, a.claim_key, a.text, w.tenant_id AS node_tenant FROM memory_artifact a "
        "JOIN workareas_workarea w ON w.id = a.workarea_id WHERE a.tenant_id = %s",
        tenant["id"],
    )
    assert {row["claim_key"]: row["id"] for row in found} == told
    assert len(found) == len(told)
    strangers = [
        row["id"]
        for row in found
        if row["node_tenant"] != tenant["id"] or row["text"] != text_of(tenant["slug"], row["claim_key"])
    ]
    assert strangers == []
    records = number(
        database,
        "SELECT count(*) FROM workareas_idempotencyrecord r JOIN memory_artifact a ON a.id = r.subject_id "
        "WHERE a.tenant_id = %s",
        tenant["id"],
    )
    assert records == len(told)


def text_of(slug: str, claim_key: str) -> str:
    """The text that a tenant's client sends for a claim, so that a stray row is recognised by its text."""
    return f"Tenant {slug} notes under {claim_key} that the port closes at noon."


def artifacts(database: str, tenant: dict[str, Any]) -> dict[str, str]:
    """claim key → id, as stored."""
    found = rows(database, "SELECT claim_key, id FROM memory_artifact WHERE tenant_id = %s", tenant["id"])
    return {row["claim_key"]: row["id"] for row in found}


def promotions(database: str, tenant: dict[str, Any]) -> list[str]:
    """Ids of promoted artifacts in the order of the journal, after a look that rows and journal agree."""
    journalled = rows(
        database,
        "SELECT subject_id FROM journal_journalentry WHERE tenant_id = %s AND event_type = 'lifecycle.promote' "
        "ORDER BY seq",
        tenant["id"],
    )
    promoted = rows(
        database, "SELECT id FROM memory_artifact WHERE tenant_id = %s AND state = 'promoted'", tenant["id"]
    )
    order = [row["subject_id"] for row in journalled]
    assert sorted(order) == sorted(row["id"] for row in promoted)
    return order


def assert_journal_whole(installation: Installation, tenant: dict[str, Any], history: History) -> None:
    """The chain recomputed here from its bytes, without a gap; each acknowledged claim in it exactly once.

    And the product's own verifier says the same. The worker and the beat go on appending meanwhile, so the
    head is read first and the entries up to it: an entry that lands between the two reads is no gap.
    """
    database = installation.database
    (head,) = rows(database, "SELECT seq, chain_hash FROM journal_journalhead WHERE tenant_id = %s", tenant["id"])
    previous, seq, submitted = GENESIS, 0, []
    for row in rows(
        database,
        "SELECT seq, canonical, leaf_hash, chain_hash, event_type FROM journal_journalentry "
        "WHERE tenant_id = %s AND seq <= %s ORDER BY seq",
        tenant["id"],
        head["seq"],
    ):
        seq += 1
        assert row["seq"] == seq, f"gap: {seq} is missing"
        leaf = leaf_hash(row["canonical"].encode())
        previous = chain_hash(previous, seq, leaf)
        assert (bytes(row["leaf_hash"]), bytes(row["chain_hash"])) == (leaf, previous), f"seq {seq} does not verify"
        record = json.loads(row["canonical"])
        assert (record["seq"], record["tenant"]) == (seq, tenant["id"])
        if row["event_type"].startswith("submission."):
            submitted.append(record["subject"]["artifact_id"])
    assert (head["seq"], bytes(head["chain_hash"])) == (seq, previous)
    assert sorted(submitted) == sorted(history.of(tenant["id"]).values())
    installation.run("manage.py", "verify_journal", "--tenant", tenant["id"])


def assert_scanned_once(database: str) -> None:
    """Every artifact is scanned, by each scanner once, journalled as scanned once, and indexed with its vector."""
    assert waiting(database) == 0
    assert pending(database) == 0
    without_vector = number(
        database,
        "SELECT count(*) FROM memory_artifact a LEFT JOIN memory_servingrow s ON s.artifact_id = a.id "
        "WHERE s.embedding IS NULL",
    )
    assert without_vector == 0
    twice = rows(
        database,
        "SELECT artifact_id, scanner FROM memory_scanreport GROUP BY artifact_id, scanner HAVING count(*) > 1",
    )
    assert twice == []
    scanners = rows(
        database,
        "SELECT a.id, count(r.id) AS reports FROM memory_artifact a LEFT JOIN memory_scanreport r "
        "ON r.artifact_id = a.id GROUP BY a.id",
    )
    assert len({row["reports"] for row in scanners}) == 1
    assert scanners[0]["reports"] > 0
    journalled = rows(
        database,
        "SELECT subject_id, count(*) AS times FROM journal_journalentry WHERE event_type = 'admission.scanned' "
        "GROUP BY subject_id",
    )
    assert {row["subject_id"] for row in journalled} == {row["id"] for row in scanners}
    assert {row["times"] for row in journalled} == {1}
