"""``pydantic-ai``: ``MCPToolset``; every refusal becomes a ModelRetry whose text the model reads."""

import asyncio
import json
import sys

from pydantic_ai.exceptions import ModelRetry
from pydantic_ai.mcp import MCPToolset


async def drive(script: dict) -> dict:
    toolset = MCPToolset(script["url"], headers={"Authorization": f"Bearer {script['key']}"})
    async with toolset:
        listed = await toolset.list_tools()
        answers = [await call(toolset, entry) for entry in script["calls"]]
    return {"tools": [tool.name for tool in listed], "answers": answers}


async def call(toolset: MCPToolset, entry: dict) -> dict:
    try:
        result = await toolset.direct_call_tool(entry["name"], entry["arguments"])
    except ModelRetry as error:
        return {"structured": None, "text": error.message, "is_error": True}
    except Exception as error:
        return {"error": str(error)}
    return {"structured": result, "text": json.dumps(result), "is_error": False}


def root_cause(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


if __name__ == "__main__":
    try:
        print(json.dumps(asyncio.run(drive(json.load(sys.stdin)))))
    except BaseException as error:
        print(json.dumps({"refused": str(root_cause(error))}))
