import { describe, expect, test } from "vitest";
import type { FlatOptions } from "../options/flat-options.ts";
import { configOfFile, configOfServers } from "../options/server-config.ts";
import { sourceOrigin } from "./source-origin.ts";

const node = { id: "node-1", cluster: "web" };

function originOf(options: FlatOptions = {}, servers: readonly string[] = ["10.0.0.1:443"], by = node): string {
  const source = configOfServers(options, servers).defaultSource;
  if (source === undefined) throw new Error("expected a source");
  return sourceOrigin(source, by);
}

test("says how a source is asked, where, and for whom", () => {
  const file = configOfFile({}, "/etc/xds/cds.yaml").defaultSource;
  // Kept on disk by it: whoever changes this makes all caches of users worthless.
  expect([originOf(), originOf({ variant: "delta" }), file && sourceOrigin(file, node)]).toEqual([
    'ads-sotw-v3:10.0.0.1:443 for "node-1"#cusvrld09azos79a',
    'ads-delta-v3:10.0.0.1:443 for "node-1"#cusvrld09azos79a',
    'file:/etc/xds/cds.yaml for "node-1"#9egwmrp2klwnjbnp',
  ]);
});

const same: readonly FlatOptions[] = [
  { headers: { authorization: "Bearer 2" } },
  { headers: { "X-Api-Key": "k", cookie: "c", "x-amz-security-token": "t" } },
  { tls: { caPath: "/new/ca.pem", certificatePath: "/new/cert.pem", keyPath: "/new/key.pem" } },
  { keepalive: false },
  { backOff: { baseMs: 1, maxMs: 2 } },
  { maxResponseBytes: 1_000 },
  { initialFetchTimeoutMs: 1 },
  { nackPolicy: "per-resource" as never },
];
test.each(same)("is the same with credentials, times and limits: %j", (options) => {
  expect(originOf(options)).toBe(originOf());
});

test("is the same whatever a header's letters and order are", () => {
  expect(originOf({ headers: { "X-B": "1", "x-a": "2" } })).toBe(originOf({ headers: { "X-A": "2", "x-b": "1" } }));
});

describe("is another one", () => {
  test("of each server, tenant, node and kind of call, and none tells a header", () => {
    const origins = [
      originOf(),
      originOf({ headers: { "x-tenant": "a" } }),
      originOf({ headers: { "x-tenant": "b" } }),
      originOf({ headers: { "x-author": "b" } }),
      originOf({ tls: { serverName: "a.example" } }),
      originOf({ tls: { serverName: "b.example" } }),
      originOf({ parameters: { a: "b" } }),
      originOf({ isAggregated: false }),
      originOf({ variant: "delta" }),
      originOf({ apiVersion: "v2" }),
      originOf({ rest: true }),
      originOf({}, ["10.0.0.2:443"]),
      originOf({}, ["10.0.0.1:443", "10.0.0.2:443"]),
      originOf({}, ["10.0.0.2:443", "10.0.0.1:443"]),
      originOf({}, undefined, { ...node, id: "node-2" }),
      originOf({}, undefined, { ...node, cluster: "api" }),
    ];
    expect(new Set(origins).size).toBe(origins.length);
    expect(origins.join(" ")).not.toContain("tenant");
  });
});
