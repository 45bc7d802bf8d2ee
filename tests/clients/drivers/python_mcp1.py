"""The official Python client, line 1: ``ClientSession`` over ``streamablehttp_client``, handshake
revisions."""

import asyncio
import json
import sys

from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client
from mcp.shared.exceptions import McpError


async def drive(script: dict) -> dict:
    headers = {"Authorization": f"Bearer {script['key']}"}
    async with (
        streamablehttp_client(script["url"], headers=headers) as (read, write, _session_id),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        listed = await session.list_tools()
        answers = [await call(session, entry) for entry in script["calls"]]
    return {"tools": [tool.name for tool in listed.tools], "answers": answers}


async def call(session: ClientSession, entry: dict) -> dict:
    try:
        result = await session.call_tool(entry["name"], entry["arguments"])
    except McpError as error:
        return {"error": str(error)}
    return {
        "structured": result.structuredContent,
        "text": result.content[0].text,
        "is_error": result.isError,
    }


def root_cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    try:
        print(json.dumps(asyncio.run(drive(json.load(sys.stdin)))))
    except BaseException as error:
        print(json.dumps({"refused": str(root_cause(error))}))
