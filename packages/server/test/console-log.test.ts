import { Cluster, consoleLog, createServer, type ManagementServerOptions } from "@xdskit/server";
import { afterEach, expect, test, vi } from "vitest";
import { testApi } from "./support/test-server.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(closers.splice(0).map((close) => close()));
});

/** What is written to standard error, without the times. */
function stderr(): readonly string[] {
  const lines: string[] = [];
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    lines.push(String(text).replace(/^\d\d:\d\d:\d\d /, ""));
    return true;
  });
  return lines;
}

function serve(options: ManagementServerOptions): ReturnType<typeof createServer> {
  const server = createServer({ api: testApi(), ...options });
  closers.push(() => server.close());
  server.on("committed", () => {
    throw Object.assign(new Error("no"), { stack: "Error: no" });
  });
  return server;
}

test("writes the lines from a level on as text", () => {
  const lines = stderr();
  serve({ log: consoleLog() }).set("base", [Cluster({ name: "a" })]);
  const failure = 'error function of the embedding program failed  server_event=committed error="Error: no"\n';
  expect(lines).toEqual([
    expect.stringMatching(/^info {2}configuration updated {2}transaction=1 took_ms=[\d.]+\n$/),
    failure,
  ]);
  const important = stderr();
  serve({ log: consoleLog({ level: "error" }) }).set("base", [Cluster({ name: "a" })]);
  expect(important).toEqual([failure]);
});

test("without a log, a failing listener is told of all the same", () => {
  const lines = stderr();
  serve({}).set("base", [Cluster({ name: "a" })]);
  expect(lines).toEqual(['error function of the embedding program failed  server_event=committed error="Error: no"\n']);
});
