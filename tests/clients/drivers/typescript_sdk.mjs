// The official TypeScript SDK, line 1: initialize, then a GET that must be a quiet 405.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

// Resolved from the folder the driver is started in, where npm put the client.
const require = createRequire(pathToFileURL(process.cwd() + "/driver.mjs"));
const load = (name) => import(pathToFileURL(require.resolve(name)));
const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = await load("@modelcontextprotocol/sdk/client/streamableHttp.js");

const script = JSON.parse(readFileSync(0, "utf8"));

async function call(client, entry) {
  try {
    const result = await client.callTool({ name: entry.name, arguments: entry.arguments });
    return { structured: result.structuredContent, text: result.content[0].text, is_error: Boolean(result.isError) };
  } catch (error) {
    return { error: String(error.message) };
  }
}

try {
  const transport = new StreamableHTTPClientTransport(new URL(script.url), {
    requestInit: { headers: { Authorization: `Bearer ${script.key}` } },
  });
  const client = new Client({ name: "oml-client-test", version: "1" });
  await client.connect(transport);
  const listed = await client.listTools();
  const answers = [];
  for (const entry of script.calls) answers.push(await call(client, entry));
  await client.close();
  console.log(JSON.stringify({ tools: listed.tools.map((tool) => tool.name), answers }));
} catch (error) {
  console.log(JSON.stringify({ refused: String(error.message) }));
}
process.exit(0);
