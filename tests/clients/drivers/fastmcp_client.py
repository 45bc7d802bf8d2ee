"""The ``fastmcp`` client."""

import asyncio
import json
import sys

from fastmcp import Client
from fastmcp.client.transports import StreamableHttpTransport


async def drive(script: dict) -> dict:
    transport = StreamableHttpTransport(script["url"], headers={"Authorization": f"Bearer {script['key']}"})
    async with Client(transport) as client:
        listed = await client.list_tools()
        answers = [await call(client, entry) for entry in script["calls"]]
    return {"tools": [tool.name for tool in listed], "answers": answers}


async def call(client: Client, entry: dict) -> dict:
    try:
        result = await client.call_tool(entry["name"], entry["arguments"], raise_on_error=False)
    except Exception as error:
        return {"error": str(error)}
    return {
        "structured": result.structured_content,
        "text": result.content[0].text,
        "is_error": result.is_error,
    }


if __name__ == "__main__":
    try:
        print(json.dumps(asyncio.run(drive(json.load(sys.stdin)))))
    except BaseException as error:
        print(json.dumps({"refused": str(error)}))
