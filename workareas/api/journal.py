"""The journal's checkpoint and proofs on ``/v1``, for people who keep checkpoints elsewhere and compare."""

from __future__ import annotations

from typing import Any

from oml.core.actor import Actor
from oml.http.fields import StrictSerializer, Whole
from oml.http.operations import Operation
from oml.http.routes import route
from workareas.api.authentication import BearerAuthentication
from workareas.api.shapes import NothingShape
from workareas.selectors.journal import journal_proof, newest_checkpoint

# Two of the fields are called `from` and `to`, which no class body can say.
ProofShape: type[StrictSerializer] = type(
    "ProofShape",
    (StrictSerializer,),
    {
        "seq": Whole(required=False, help_text="Inclusion: the entry's sequence number."),
        "size": Whole(required=False, help_text="Inclusion: how many entries; the newest checkpoint's when left out."),
        "from": Whole(required=False, help_text="Consistency: the size of the checkpoint that was kept."),
        "to": Whole(required=False, help_text="Consistency: the larger size; the newest checkpoint's when left out."),
    },
)


def _checkpoint(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return newest_checkpoint(actor)


def _proof(actor: Actor, values: dict[str, Any]) -> dict[str, Any]:
    return journal_proof(
        actor, seq=values.get("seq"), size=values.get("size"), old=values.get("from"), new=values.get("to")
    )


_STRING = {"type": "string"}
_NUMBER = {"type": "integer"}
_HASH = {"type": "string", "description": "base64 of 32 bytes"}


def _object(**members: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "required": list(members), "properties": members}


_CHECKPOINT = _object(
    note={"type": "string", "description": "C2SP signed note: origin, size, root, signature"},
    origin=_STRING,
    size=_NUMBER,
    root=_HASH,
    keyid=_STRING,
    at={"type": "string", "format": "date-time"},
    verifier_keys={"type": "array", "items": {"type": "string", "description": "C2SP verifier key: name+id+key"}},
)
_STEPS = {"type": "array", "items": _HASH}
_INCLUSION = _object(
    kind={"const": "inclusion"},
    origin=_STRING,
    seq=_NUMBER,
    size=_NUMBER,
    leaf_hash=_HASH,
    root=_HASH,
    proof=_STEPS,
)
_CONSISTENCY = _object(
    kind={"const": "consistency"},
    origin=_STRING,
    **{"from": _NUMBER, "to": _NUMBER},
    from_root=_HASH,
    to_root=_HASH,
    proof=_STEPS,
)

checkpoint = Operation(
    "journal_checkpoint",
    NothingShape,
    _checkpoint,
    _CHECKPOINT,
    summary="The journal's newest signed checkpoint",
)
proof = Operation(
    "journal_proof",
    ProofShape,
    _proof,
    {"oneOf": [_INCLUSION, _CONSISTENCY]},
    summary="That an entry is in the journal, or that nothing signed was rewritten",
)

urlpatterns = [
    route("journal/checkpoint", BearerAuthentication, get=checkpoint),
    route("journal/proof", BearerAuthentication, get=proof),
]
