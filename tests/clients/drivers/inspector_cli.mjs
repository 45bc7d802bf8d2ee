// The MCP inspector on the command line: one process a request, as a person debugging an agent would use it.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const script = JSON.parse(readFileSync(0, "utf8"));
const launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";

function inspect(...words) {
  const common = ["--cli", script.url, "--transport", "http", "--header", `Authorization: Bearer ${script.key}`];
  try {
    return { out: execFileSync(process.execPath, [launcher, ...common, ...words], { encoding: "utf8", stdio: "pipe" }) };
  } catch (failed) {
    return { out: failed.stdout, err: failed.stderr };
  }
}

function call(entry) {
  const pairs = Object.entries(entry.arguments).flatMap(([name, value]) => [
    "--tool-arg",
    `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  ]);
  const { out, err } = inspect("--method", "tools/call", "--tool-name", entry.name, ...pairs);
  if (!out.trim()) return err.includes("tool_not_found") ? { unlisted: entry.name } : { error: err };
  const result = JSON.parse(out);
  return { structured: result.structuredContent, text: result.content[0].text, is_error: Boolean(result.isError) };
}

const listed = inspect("--method", "tools/list", "--strict");
if (!listed.out.trim()) {
  console.log(JSON.stringify({ refused: listed.err }));
} else {
  const tools = JSON.parse(listed.out).tools.map((tool) => tool.name);
  console.log(JSON.stringify({ tools, answers: script.calls.map(call) }));
}
