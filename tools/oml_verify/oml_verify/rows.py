"""The rows beside the slice, held against its entries: the journal says it happened, the rows say what.

Every visible entry that speaks of a submission, a serve or a verdict needs its row, signed where it is signed, saying
the same. Each finding carries the entry's sequence number.
"""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field
from typing import Any

from oml_verify import dsse
from oml_verify.container import Container
from oml_verify.findings import Report
from oml_verify.reciprocity import statistics
from oml_verify.strict import Malformed, canonical, parse_object, unbase64

Row = dict[str, Any]
_SUBMISSIONS = ("submission.remember", "submission.learn", "submission.supersede")


@dataclass
class Rows:
    """The bundle's rows by id, and what the walk found to be checked against them."""

    keys: list[bytes]
    report: Report
    artifacts: dict[str, Row] = field(default_factory=dict)
    serves: dict[str, Row] = field(default_factory=dict)
    verdicts: dict[str, Row] = field(default_factory=dict)
    closures: dict[str, Row] = field(default_factory=dict)
    reasons: dict[str, Row] = field(default_factory=dict)
    self_signed: int = 0
    signatures: int = 0
    _used: dict[str, set[str]] = field(default_factory=dict)
    _previous: Row | None = None
    _proposers: dict[str, tuple[str, str]] = field(default_factory=dict)

    def load(self, bundle: Container) -> None:
        """Read all row members; a line that is no row is a finding."""
        for member, name, into in (
            ("artifacts.ndjson", "artifact_id", self.artifacts),
            ("serves.ndjson", "serve_id", self.serves),
            ("verdicts.ndjson", "verdict_id", self.verdicts),
            ("closures.ndjson", "artifact_id", self.closures),
            ("reasons.ndjson", "commitment", self.reasons),
        ):
            self._used[member] = set()
            last = ""
            for number, line in enumerate(bundle.lines(member), start=1):
                try:
                    row = parse_object(line)
                    identity = row[name]
                    if canonical(row) != line or not isinstance(identity, str):
                        raise Malformed
                except (Malformed, KeyError):
                    self.report.fail(f"line {number} is not a row", where=member)
                    continue
                if member != "reasons.ndjson" and identity <= last:
                    self.report.fail(f"line {number} is out of order or there twice", where=member)
                last = identity
                into[identity] = row

    def check(self, record: Row) -> None:
        """Hold one visible entry against the rows it speaks of."""
        seq = record["seq"]
        try:
            kind = record["event_type"]
            if kind in _SUBMISSIONS:
                self._submission(seq, record)
            elif kind == "review.served":
                self._serve(seq, record)
            elif kind == "review.verdict":
                self._verdict(seq, record)
            elif kind == "lifecycle.promote":
                self._promotion(seq, record)
            elif kind in ("claim.relate_proposed", "workarea.relate_proposed"):
                self._proposers[record["subject"]["edge_id"]] = _who(record["actor"])
            elif kind in ("claim.relate_ratified", "workarea.relate_ratified"):
                self._ratified_edge(record)
            elif record["payload"].get("reason_commitment") in self.reasons:
                self._reason(seq, record)
        except Malformed as wrong:
            self.report.fail(str(wrong), seq=seq)
        except (KeyError, TypeError, AttributeError):
            self.report.fail("a row of this entry lacks what it must say", seq=seq)
        self._previous = record

    def finish(self, bundle: Container) -> None:
        """Rows that no entry speaks of, and the statistics computed anew."""
        for member, into in (
            ("serves.ndjson", self.serves),
            ("verdicts.ndjson", self.verdicts),
            ("closures.ndjson", self.closures),
            ("reasons.ndjson", self.reasons),
        ):
            strangers = sorted(set(into) - self._used[member])
            if strangers:
                self.report.fail(f"{strangers[0]} belongs to no entry of the slice", where=member)
        try:
            judged = [
                (row["item_id"], _who(self.artifacts[row["item_id"]]["author"]), _who(row["reviewer"]), row["verdict"])
                for row in self.verdicts.values()
                if row["item_id"].startswith("art_")
            ]
            computed = statistics([(item, author, who, word == "ratify") for item, author, who, word in judged])
            if canonical(computed) + b"\n" != bundle.read("reciprocity.json"):
                self.report.fail("the statistics are not those of the bundle's verdicts", where="reciprocity.json")
        except (KeyError, TypeError, AttributeError):
            self.report.fail("a verdict lacks what the statistics need", where="verdicts.ndjson")

    def _submission(self, seq: int, record: Row) -> None:
        subject, payload = record["subject"], record["payload"]
        row = self._row(self.artifacts, subject["artifact_id"], "artifact", seq)
        if row is None:
            return
        signed = self._open(row, dsse.SUBMISSION, "submission")
        for name, said, entered in (
            ("tenant", signed["tenant"], record["tenant"]),
            ("artifact", signed["artifact"], subject["artifact_id"]),
            ("claim key", signed["claim_key"], subject["claim_key"]),
            ("version", signed["version"], subject["version"]),
            ("kind", signed["kind"], payload["kind"]),
            ("author", _who(signed["author"]), _who(record["actor"])),
            ("sources", signed["derives_from"], payload["derives_from"]),
        ):
            if said != entered:
                raise Malformed(f"the signed submission has another {name} than the entry")
        for name, said, kept in (
            ("text digest", signed["text_sha256"], row["text_sha256"]),
            ("author", signed["author"], row["author"]),
            ("claim key", signed["claim_key"], row["claim_key"]),
            ("kind", signed["kind"], row["kind"]),
        ):
            if said != kept:
                raise Malformed(f"the artifact's row has another {name} than its signed submission")

    def _serve(self, seq: int, record: Row) -> None:
        payload = record["payload"]
        row = self._row(self.serves, payload["serve_id"], "serve", seq)
        if row is None:
            return
        self._used["serves.ndjson"].add(row["serve_id"])
        entered = (_about(record), _who(record["actor"]), payload["content_digest"], payload["expires_at"])
        if (row["item_id"], _who(row["reviewer"]), row["content_digest"], row["expires_at"]) != entered:
            raise Malformed("the serve's row says something else than the entry")

    def _verdict(self, seq: int, record: Row) -> None:
        payload = record["payload"]
        row = self._row(self.verdicts, payload["verdict_id"], "verdict", seq)
        serve = self._row(self.serves, payload["serve_id"], "serve", seq)
        if serve is not None:
            self._used["serves.ndjson"].add(serve["serve_id"])
            if serve["item_id"] != _about(record) or serve["consumed_at"] is None:
                raise Malformed("the verdict's serve was for something else, or was never used")
        if row is None:
            return
        self._used["verdicts.ndjson"].add(row["verdict_id"])
        signed = self._open(row, dsse.VERDICT, "verdict")
        about = signed.get("artifact") or signed.get("edge")
        for name, said, entered in (
            ("tenant", signed["tenant"], record["tenant"]),
            ("subject", about, _about(record)),
            ("verdict", signed["word"], payload["verdict"]),
            ("serve", signed["serve"], payload["serve_id"]),
            ("reviewer", _who(signed["reviewer"]), _who(record["actor"])),
            ("reason code", signed["reason_code"], payload["reason_code"]),
            ("reason", signed["reason_commitment"], payload["reason_commitment"]),
            ("self-signed mark", signed["self_signed"], payload["self_signed"]),
        ):
            if said != entered:
                raise Malformed(f"the signed verdict has another {name} than the entry")
        for name, said, kept in (
            ("verdict", signed["word"], row["verdict"]),
            ("reviewer", signed["reviewer"], row["reviewer"]),
            ("reason code", signed["reason_code"], row["reason_code"]),
            ("self-signed mark", signed["self_signed"], row["self_signed"]),
            ("subject", about, row["item_id"]),
        ):
            if said != kept:
                raise Malformed(f"the verdict's row has another {name} than its signed verdict")
        if row["reason_salt"] is not None and not _commits(
            row["reason_salt"], row["reason"], signed["reason_commitment"]
        ):
            raise Malformed("the reason is not the one that was given")
        self.self_signed += bool(row["self_signed"])

    def _promotion(self, seq: int, record: Row) -> None:
        artifact = record["subject"]["artifact_id"]
        before = self._previous
        if before is not None and before["seq"] == seq - 1:
            ratified = before["event_type"] == "review.verdict" and before["payload"]["verdict"] == "ratify"
            if not ratified or _about(before) != artifact:
                raise Malformed("promoted without a ratification right before it (D14)")
        row = self._row(self.artifacts, artifact, "artifact", seq)
        closure = self._row(self.closures, artifact, "closure", seq)
        if row is None or closure is None:
            return
        self._used["closures.ndjson"].add(artifact)
        if len(closure["closure"]) != record["payload"]["closure_size"]:
            raise Malformed("the closure is not as large as it was at promotion")
        author = row["author"]
        marked = record["payload"]["self_signed"]
        if row["self_signed"] != marked:
            raise Malformed("the self-signed mark is not the one of the promotion")
        for verdict in self.verdicts.values():
            if verdict["item_id"] != artifact or verdict["verdict"] != "ratify":
                continue
            own = verdict["reviewer"]["key"] == author["key"] or verdict["reviewer"]["principal"] == author["principal"]
            if own and not (marked and verdict["self_signed"]):
                raise Malformed("ratified by its author, and not marked as self-signed (R2)")

    def _ratified_edge(self, record: Row) -> None:
        proposer, ratifier = self._proposers.get(record["subject"]["edge_id"]), _who(record["actor"])
        if proposer is not None and (proposer[0] == ratifier[0] or proposer[1] == ratifier[1]):
            raise Malformed("an edge ratified by its proposer (R2)")

    def _reason(self, seq: int, record: Row) -> None:
        promised = record["payload"]["reason_commitment"]
        row = self.reasons[promised]
        self._used["reasons.ndjson"].add(promised)
        if not _commits(row["salt"], row["reason"], promised):
            raise Malformed("the stated reason is not the one that was given")

    def _row(self, rows: dict[str, Row], identity: str, what: str, seq: int) -> Row | None:
        row = rows.get(identity)
        if row is None:
            self.report.fail(f"the {what} {identity} is missing from the bundle", seq=seq)
        return row

    def _open(self, row: Row, kind: str, what: str) -> Row:
        try:
            signed = dsse.open_envelope(row["envelope"], kind, self.keys)
        except Malformed as wrong:
            raise Malformed(f"the {what}'s envelope: {wrong}") from None
        self.signatures += 1
        return signed


def _about(record: Row) -> str:
    return str(record["subject"]["item_id"])


def _who(row: Row) -> tuple[str, str]:
    return row["key"], row["principal"]


def _commits(salt: str, words: str, promised: str | None) -> bool:
    return hmac.new(unbase64(salt), words.encode(), hashlib.sha256).hexdigest() == promised
