"""The official Python client, line 2: ``mcp.Client`` in modes auto, legacy or a pinned revision."""

import asyncio
import json
import sys

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client


async def drive(script: dict) -> dict:
    headers = {"Authorization": f"Bearer {script['key']}"}
    async with httpx2.AsyncClient(headers=headers, timeout=30) as http:
        transport = streamable_http_client(script["url"], http_client=http)
        async with Client(transport, mode=script.get("mode") or "auto") as client:
            listed = await client.list_tools()
            answers = [await call(client, entry) for entry in script["calls"]]
    return {"tools": [tool.name for tool in listed.tools], "answers": answers}


async def call(client: Client, entry: dict) -> dict:
    try:
        result = await client.call_tool(entry["name"], entry["arguments"])
    except MCPError as error:
        return {"error": str(error)}
    return {
        "structured": result.structured_content,
        "text": result.content[0].text,
        "is_error": result.is_error,
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
