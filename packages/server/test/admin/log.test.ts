import { expect, test } from "vitest";
import type { ServerReport } from "../../src/hub/port.ts";
import { createLineLimit } from "../../src/observe/line-limit.ts";
import { attachLog } from "../../src/observe/log.ts";
import { type LogEvent, type LogFields, logTable } from "../../src/observe/log-table.ts";
import { printable, printableReason } from "../../src/observe/printable.ts";
import { CDS, node, RealMachine, resource } from "./real-machine.ts";

interface Line {
  readonly event: LogEvent;
  readonly fields: LogFields;
}

function listen(world: RealMachine): Line[] {
  const lines: Line[] = [];
  attachLog(world.telemetry, { write: (event, fields) => lines.push({ event, fields }) });
  return lines;
}

test("S-OBS-02 a NACK is a warning with node, type and reason; at most one in ten seconds, the rest are counted", () => {
  const world = new RealMachine();
  const lines = listen(world);
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  const stream = world.open();
  world.receive(stream, { kind: "delta", node: node("n\n1"), subscribe: ["*"] });
  const refuse = (): void =>
    world.receive(stream, { kind: "delta", nonce: world.lastNonce, error: { code: 13, message: "bad\nthing" } });
  refuse();
  for (let i = 0; i < 5; i++) {
    world.commit([{ layer: "base", puts: [resource(CDS, "a", `try ${i}`)] }]);
    refuse();
  }
  world.now += 11_000;
  world.commit([{ layer: "base", puts: [resource(CDS, "a", "last")] }]);
  refuse();
  world.metrics.close();

  const refusals = lines.filter(({ event }) => event === "response-nacked");
  expect(
    refusals.map(({ fields }) => [fields["node"], fields["type"], fields["reason"], fields["suppressed"]]),
  ).toEqual([
    ["n\\n1", CDS, "bad\\nthing", undefined],
    ["n\\n1", CDS, "bad\\nthing", 5],
  ]);
  expect(logTable["response-nacked"].level).toBe("warn");
});

test("every line has the fields that the table names, and no other", () => {
  const world = new RealMachine();
  const lines = listen(world);
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  const stream = world.open();
  world.receive(stream, { kind: "delta", node: node("n1"), subscribe: ["*"] });
  world.receive(stream, { kind: "delta", nonce: world.lastNonce, error: { code: 13, message: "no" } });
  world.close(stream);
  world.metrics.close();
  expect(lines.map(({ event }) => event)).toEqual([
    "committed",
    "stream-opened",
    "node-connected",
    "response-nacked",
    "stream-closed",
  ]);
  for (const { event, fields } of lines) {
    expect({ event, fields: Object.keys(fields) }).toEqual({ event, fields: logTable[event].fields });
  }
});

test("a line has the name of its event, but for five that tell an event in some cases only", () => {
  const partial = Object.entries(logTable).filter(([, { of }]) => of !== undefined);
  expect(partial.map(([event, { of }]) => [event, of])).toEqual([
    ["conversion-incomplete", "converted"],
    ["stream-ended", "stream-closed"],
    ["change-held", "ledger-recorded"],
    ["endpoints-held", "ledger-recorded"],
    ["files-source-kept", "files-source"],
  ]);
});

test("every line of the table is written by the log", () => {
  const observed = new Set<string>();
  const telemetry = { report: () => undefined, observe: (kind: string) => observed.add(kind) };
  attachLog(telemetry, { write: () => undefined });
  const missing = Object.entries(logTable).filter(([event, { of }]) => !observed.has(of ?? event));
  expect(
    missing.map(([event]) => event),
    "lines that observe/log.ts does not write",
  ).toEqual([]);
});

function recorded(as: string): ServerReport {
  const nobody = { author: undefined, message: undefined };
  return { kind: "ledger-recorded", number: 1, as, ...nobody, changes: [], total: 1, reasons: [] };
}

/** A case of each line that tells an event in some cases only. */
const cases: Readonly<Record<Exclude<LogEvent, ServerReport["kind"]>, ServerReport>> = {
  "conversion-incomplete": {
    ...{ kind: "converted", resources: 1, tookMs: 1 },
    findings: [
      {
        ...{ layer: "base", type: CDS, name: "a" },
        findings: [{ severity: "warning", code: "FIELD_UNKNOWN", path: ["name"], message: "unknown" }],
      },
    ],
  },
  "stream-ended": {
    ...{ kind: "stream-closed", stream: 1, variant: "delta", onlyType: undefined, reason: "malformed", ageMs: 1 },
    peer: { address: "10.0.0.1:1", isLoopback: false, isTls: false, names: [] },
    status: { code: 3, message: "no request" },
  },
  "change-held": recorded("held"),
  "endpoints-held": recorded("emptied"),
  "files-source-kept": {
    ...{ kind: "files-source", directory: "/out", type: CDS, name: "a", path: "eds_config" },
    ...{ refersTo: undefined, referred: undefined, file: undefined },
  },
};

test.each(Object.entries(cases))("%s is written in its case", (event, report) => {
  const world = new RealMachine();
  const lines = listen(world);
  world.telemetry.report(report, new Date(0));
  world.metrics.close();
  expect(lines.map((line) => line.event)).toEqual([event]);
});

test.each<{ readonly event: LogEvent; readonly of: (address: string) => ServerReport }>([
  {
    event: "limit-hit",
    of: (address) => ({ kind: "limit-hit", limit: "maxNodeBytes", address, stream: undefined, message: "too large" }),
  },
  {
    event: "admin-refused",
    of: (address) => ({
      kind: "admin-refused",
      address,
      method: "GET",
      path: "/api/v1/nodes",
      names: ["dns:a.example"],
    }),
  },
  {
    event: "admin-change",
    of: (address) => ({
      ...{ kind: "admin-change", address, caller: "loopback", role: "operator" },
      ...{ method: "POST", path: "/api/v1/nodes", status: 405 },
    }),
  },
  {
    event: "page-refused",
    of: (address) => ({
      kind: "page-refused",
      address,
      host: "evil.example:18000",
      origin: "http://evil.example:18000",
    }),
  },
  { event: "connection-refused", of: (address) => ({ kind: "connection-refused", address, reason: "no HTTP" }) },
  { event: "connection-broken", of: (address) => ({ kind: "connection-broken", address, reason: "Protocol error" }) },
  {
    event: "stream-ended",
    of: (address) => ({
      kind: "stream-closed",
      stream: 1,
      peer: { address, isLoopback: true, isTls: false, names: [] },
      variant: "delta",
      onlyType: undefined,
      reason: "malformed",
      status: { code: 3, message: "no request" },
      ageMs: 1,
    }),
  },
])("A14 $event is one line in ten seconds for each host, the rest are counted", ({ event, of }) => {
  const world = new RealMachine();
  const lines = listen(world);
  const at = (ms: number): Date => new Date(ms);
  for (let port = 1; port <= 5; port++) world.telemetry.report(of(`10.0.0.1:${port}`), at(0));
  world.telemetry.report(of("10.0.0.2:1"), at(0));
  world.telemetry.report(of("10.0.0.1:6"), at(10_000));
  world.metrics.close();
  expect(lines.map(({ event: told, fields }) => [told, fields["peer"], fields["suppressed"]])).toEqual([
    [event, "10.0.0.1:1", undefined],
    [event, "10.0.0.2:1", undefined],
    [event, "10.0.0.1:6", 4],
  ]);
  for (const { fields } of lines) expect(Object.keys(fields)).toEqual(logTable[event].fields);
});

test("who is refused without a certificate, or reads, does not hide who tried to change something", () => {
  const world = new RealMachine();
  const lines = listen(world);
  const names = ["dns:a.example"];
  const [read, change] = ["/api/v1/nodes", "/api/v1/rollback/1"];
  const address = "10.0.0.1:1";
  for (const one of [
    { method: "GET", path: read, names: [] },
    { method: "GET", path: read, names },
    { method: "POST", path: change, names },
    { method: "POST", path: change, names },
  ])
    world.telemetry.report({ kind: "admin-refused", address, ...one }, new Date(0));
  const failed = {
    kind: "admin-change",
    address,
    role: "operator",
    method: "POST",
    path: change,
    status: 409,
  } as const;
  for (const caller of ["dns:a.example", "dns:b.example"]) world.telemetry.report({ ...failed, caller }, new Date(0));
  world.metrics.close();
  const told = lines.map(({ fields }) => [fields["method"], fields["path"], fields["certificate"] ?? fields["caller"]]);
  expect(told).toEqual([
    ["GET", read, ""],
    ["GET", read, "dns:a.example"],
    ["POST", change, "dns:a.example"],
    ["POST", change, "dns:a.example"],
    ["POST", change, "dns:b.example"],
  ]);
});

test("a limit of lines forgets the oldest of very many keys", () => {
  const limit = createLineLimit();
  expect(limit.allow("first", 0)).toEqual({ suppressed: 0 });
  expect(limit.allow("first", 1)).toBeUndefined();
  for (let i = 0; i < 10_000; i++) limit.allow(`k${i}`, 2);
  expect(limit.allow("first", 3)).toEqual({ suppressed: 0 });
});

test("A14 a megabyte of hostile text becomes 4 KB that a terminal can bear", () => {
  const text = printable(`\u0000\u001b]0;x\u0007\u202e\ud800${"é".repeat(1_000_000)}`);
  expect(text).toMatch(/^\\u\{0\}\\u\{1b\}\]0;x\\u\{7\}\\u\{202e\}\\u\{d800\}é+… \(cut\)$/);
  expect(text).toHaveLength(4096);
});

test("a reason has no line end at its end, and keeps those in it", () => {
  expect(printableReason("no good:\n in it: http\n\r\n")).toBe("no good:\\n in it: http");
  expect(printable("edge-1\n")).toBe("edge-1\\n"); // of a name nothing is hidden
});

test("H2 keys and passwords in what a client quotes are replaced", () => {
  const key = "-----BEGIN RSA PRIVATE KEY-----\\nMIIE\\n-----END RSA PRIVATE KEY-----";
  expect(printable(`x ${key} y`)).toBe("x [redacted] y");
  expect(printable("x -----BEGIN PRIVATE KEY-----\nMIIE")).toBe("x [redacted]");
  expect(printable('private_key { inline_bytes: "QUJD\\"x" } name: "a"')).toBe(
    'private_key { inline_bytes: [redacted] } name: "a"',
  );
  expect(printable('password { inline_string: "hunter2" } name: "a"')).toBe(
    'password { inline_string: [redacted] } name: "a"',
  );
  expect(printable("password: hunter2, name: a")).toBe("password: [redacted], name: a");
});

test("a config source in a file that still asks a server is told once, until it is pointed at a file", () => {
  const world = new RealMachine();
  const lines = listen(world);
  const source = (name: string, file?: string): void =>
    world.telemetry.report(
      {
        kind: "files-source",
        directory: "/out",
        type: CDS,
        name,
        path: "eds_cluster_config.eds_config",
        refersTo: undefined,
        referred: undefined,
        file,
      },
      new Date(0),
    );
  source("a");
  source("a");
  source("b");
  source("a", "/out/eds/a.yaml");
  source("a");
  expect(lines.map(({ event, fields }) => [event, fields["name"]])).toEqual([
    ["files-source-kept", "a"],
    ["files-source-kept", "b"],
    ["files-source-kept", "a"],
  ]);
});
