"""``POST /v1/evidence``: the one answer of ``/v1`` that is a file; refusals stay JSON."""

from __future__ import annotations

import base64

from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from oml.core.actor import Actor
from oml.core.errors import InvalidKey
from oml.http.fields import Reference, StrictSerializer, Whole
from oml.http.schema import ERROR
from oml.http.views import OperationView
from review.evidence.export import export_evidence
from workareas.api.authentication import BearerAuthentication


class ExportShape(StrictSerializer):
    scope = Reference(required=False, help_text="Workarea, id or path; the whole tenant when left out.")
    from_seq = Whole(required=False, help_text="First journal entry; 1 when left out.")
    to_seq = Whole(required=False, help_text="Last journal entry; the newest when left out.")


class Evidence(OperationView):
    authentication_classes = (BearerAuthentication,)

    @extend_schema(
        operation_id="evidence_export",
        summary="A signed bundle of a slice of history, to be checked without the server",
        request=ExportShape,
        responses={(200, "application/zip"): OpenApiTypes.BINARY, "4XX": ERROR, "5XX": ERROR},
    )
    def post(self, request: Request) -> FileResponse:
        actor = request.auth
        if not isinstance(actor, Actor):
            raise InvalidKey(presented=False)
        bundle = export_evidence(actor, **ExportShape.parse(request.data))
        digest = base64.b64encode(bytes.fromhex(bundle.sha256)).decode()
        return FileResponse(
            bundle.file,
            as_attachment=True,
            filename=bundle.name,
            content_type="application/zip",
            headers={"Cache-Control": "no-store", "Repr-Digest": f"sha-256=:{digest}:"},
        )
