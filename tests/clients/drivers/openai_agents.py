"""``openai-agents``: ``MCPServerStreamableHttp``."""

import asyncio
import json
import sys

from agents.mcp import MCPServerStreamableHttp


async def drive(script: dict) -> dict:
    params = {"url": script["url"], "headers": {"Authorization": f"Bearer {script['key']}"}}
    async with MCPServerStreamableHttp(params=params) as server:
        listed = await server.list_tools()
        answers = [await call(server, entry) for entry in script["calls"]]
    return {"tools": [tool.name for tool in listed], "answers": answers}


async def call(server: MCPServerStreamableHttp, entry: dict) -> dict:
    try:
        result = await server.call_tool(entry["name"], entry["arguments"])
    except Exception as error:
        return {"error": str(error)}
    # Its models follow whichever line of ``mcp`` is installed with it.
    shown = result.model_dump(by_alias=True)
    return {
        "structured": shown["structuredContent"],
        "text": shown["content"][0]["text"],
        "is_error": bool(shown["isError"]),
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
