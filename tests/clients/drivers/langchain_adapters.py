"""``langchain-mcp-adapters``: a session of its own for every call; structured content is dropped on
errors."""

import asyncio
import json
import sys

from langchain_core.tools import ToolException
from langchain_mcp_adapters.client import MultiServerMCPClient


async def drive(script: dict) -> dict:
    connection = {
        "transport": "streamable_http",
        "url": script["url"],
        "headers": {"Authorization": f"Bearer {script['key']}"},
    }
    tools = {tool.name: tool for tool in await MultiServerMCPClient({"oml": connection}).get_tools()}
    answers = [await call(tools, entry) for entry in script["calls"]]
    return {"tools": list(tools), "answers": answers}


async def call(tools: dict, entry: dict) -> dict:
    if entry["name"] not in tools:
        return {"unlisted": entry["name"]}  # an agent on this client cannot call what was not listed
    message = {"type": "tool_call", "id": "1", "name": entry["name"], "args": entry["arguments"]}
    try:
        result = await tools[entry["name"]].ainvoke(message)
    except ToolException as error:
        return {"structured": None, "text": str(error), "is_error": True}
    artifact = result.artifact or {}
    text = result.content if isinstance(result.content, str) else result.content[0]["text"]
    return {
        "structured": artifact.get("structured_content"),
        "text": text,
        "is_error": result.status == "error",
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
