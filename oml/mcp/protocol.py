"""The methods of MCP, for both eras on one endpoint; pure, no Django.

Handshake revisions (2024-11-05 to 2025-11-25) open with ``initialize``; revision 2026-07-28 carries its
version and capabilities in every request. The ``mcp`` package supplies the wire models, the per-revision
method tables and the header ladder; this module decides the era, answers and maps error codes to HTTP
statuses. What must never happen here: state kept between two requests, or a capability announced that is not
offered.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    MCP_PROTOCOL_VERSION_HEADER,
    InboundLadderRejection,
    classify_inbound_request,
)
from mcp_types import CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY, SERVER_INFO_META_KEY
from mcp_types.jsonrpc import UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.methods import validate_client_request
from mcp_types.version import (
    HANDSHAKE_PROTOCOL_VERSIONS,
    KNOWN_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
)
from pydantic import ValidationError

from oml import __version__
from oml.mcp.errors import RpcError, invalid_params, unknown_method, unknown_tool, without_id
from oml.mcp.tools import Mount, call_tool
from oml.mcp.wire import Message

# What a client that sends no version header speaks, by the specification.
ASSUMED_VERSION = "2025-03-26"
# How long a client may keep a list that changes only with a deployment.
LIST_TTL_MS = 300_000
CAPABILITIES = {"tools": {"listChanged": False}}


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back: an HTTP status, a JSON-RPC body (none for a notification) and extra headers."""

    status: int
    body: dict[str, Any] | None
    headers: dict[str, str] = field(default_factory=dict)


def answer(mount: Mount, actor: Any, message: Message, headers: Mapping[str, str]) -> Reply:
    """Answer one message.

    Args:
        mount: the endpoint that received it.
        actor: whoever its ``authenticate`` returned.
        message: the decoded message.
        headers: HTTP headers by lower-case name.

    Source: MCP 2026-07-28 and 2025-11-25, basic/transports and basic/versioning; design page mcp.
    """
    version_header = headers.get(MCP_PROTOCOL_VERSION_HEADER)
    if message.is_notification:
        return _acknowledge(version_header)
    modern = _is_modern(message, version_header)
    try:
        if modern:
            rejection = classify_inbound_request(message.body, headers=headers)
            if isinstance(rejection, InboundLadderRejection):
                if rejection.code == UNSUPPORTED_PROTOCOL_VERSION:
                    raise _unsupported_version(rejection.data["requested"])
                raise RpcError(rejection.code, rejection.message, data=rejection.data)
            version = rejection.protocol_version
        else:
            version = version_header or ASSUMED_VERSION
        _check_params(message, version)
        result, extra = _dispatch(mount, actor, message, modern=modern)
    except RpcError as error:
        # A legacy client turns any other status than 200 into a transport failure and loses the code.
        status = ERROR_CODE_HTTP_STATUS.get(error.code, 200) if modern else 200
        return Reply(status, {"jsonrpc": "2.0", "id": message.request_id, "error": error.as_dict()})
    return Reply(200, {"jsonrpc": "2.0", "id": message.request_id, "result": result}, extra)


def _is_modern(message: Message, version_header: str | None) -> bool:
    """True for the per-request era. A proxy that strips the header gets -32020, never a silent downgrade."""
    meta = message.params.get("_meta")
    enveloped = message.method != "initialize" and isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta
    return enveloped or (version_header is not None and version_header not in HANDSHAKE_PROTOCOL_VERSIONS)


def _acknowledge(version_header: str | None) -> Reply:
    """202 without a body; a notification is never executed, whatever method it names."""
    if version_header is None or version_header in KNOWN_PROTOCOL_VERSIONS:
        return Reply(202, None)
    return Reply(400, without_id(_unsupported_version(version_header).as_dict()))


def _unsupported_version(requested: str) -> RpcError:
    """-32022 with every revision served here, newest first, so that a client of either era finds its own.

    A handshake revision inside a per-request envelope is unsupported in that place only; naming it as
    supported in the same breath would send the client round in a circle.
    """
    supported = [version for version in reversed(KNOWN_PROTOCOL_VERSIONS) if version != requested]
    data = {"supported": supported, "requested": requested}
    return RpcError(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", data=data)


def _check_params(message: Message, version: str) -> None:
    """Existence of the method in this revision, then the shape of its parameters."""
    try:
        validate_client_request(message.method, version, message.params)
    except KeyError:
        raise unknown_method(message.method) from None
    except ValidationError:
        # The validator's own text quotes the input; it stays here.
        raise invalid_params(f"they do not have the shape of {message.method} in revision {version}") from None


def _dispatch(mount: Mount, actor: Any, message: Message, *, modern: bool) -> tuple[dict[str, Any], dict[str, str]]:
    extra: dict[str, str] = {}
    match message.method:
        case "initialize":
            return _initialize(mount, message.params), extra
        case "ping":
            return {}, extra
        case "server/discover":
            result = _discover(mount)
        case "tools/list":
            result = _list_tools(mount, actor, message.params, modern=modern)
        case "tools/call":
            result, extra = _call_tool(mount, actor, message)
        case _:
            raise unknown_method(message.method)
    if modern:
        result = {**result, "resultType": "complete", "_meta": {SERVER_INFO_META_KEY: _server_info(mount)}}
    return result, extra


def _initialize(mount: Mount, params: dict[str, Any]) -> dict[str, Any]:
    """An honest answer, and nothing is stored: the next request may reach another replica."""
    asked = params["protocolVersion"]
    return {
        "protocolVersion": asked if asked in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION,
        "capabilities": CAPABILITIES,
        "serverInfo": _server_info(mount),
        "instructions": mount.instructions,
    }


def _discover(mount: Mount) -> dict[str, Any]:
    return {
        "supportedVersions": list(reversed(KNOWN_PROTOCOL_VERSIONS)),
        "capabilities": CAPABILITIES,
        "instructions": mount.instructions,
        "ttlMs": LIST_TTL_MS,
        "cacheScope": "private",
    }


def _list_tools(mount: Mount, actor: Any, params: dict[str, Any], *, modern: bool) -> dict[str, Any]:
    if params.get("cursor") is not None:
        raise invalid_params("tools/list has one page; no cursor was issued")
    result: dict[str, Any] = {"tools": [tool.as_dict() for tool in mount.tools(actor)]}
    if modern:
        # Private although the list is the same for every key: it is never served without one.
        result |= {"ttlMs": LIST_TTL_MS, "cacheScope": "private"}
    return result


def _call_tool(mount: Mount, actor: Any, message: Message) -> tuple[dict[str, Any], dict[str, str]]:
    params = message.params
    for tool in mount.tools(actor):
        if tool.name == params["name"]:
            given = params.get("arguments") or {}
            given = message.texts.put_back(given) if message.texts is not None else given
            result = call_tool(tool, mount.reported(actor, _client_name(params)), given)
            return result.content, result.headers
    raise unknown_tool(params["name"])


def _client_name(params: dict[str, Any]) -> str | None:
    """What the client calls itself in this very request; nothing is remembered from a handshake."""
    meta = params.get("_meta")
    info = (meta.get(CLIENT_INFO_META_KEY) or meta.get("clientInfo")) if isinstance(meta, dict) else None
    name = info.get("name") if isinstance(info, dict) else None
    return name if isinstance(name, str) else None


def _server_info(mount: Mount) -> dict[str, str]:
    return {"name": mount.name, "title": mount.title, "version": __version__}
