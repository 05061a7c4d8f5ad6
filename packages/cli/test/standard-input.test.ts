import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { encodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const api = createEnvoyApi();

async function xds(input: string | Uint8Array, ...argv: readonly string[]): Promise<readonly [number, string, string]> {
  const io = new CapturedIo({ input });
  const code = await run(argv, io);
  return [code, io.stdout.text, io.stderr.text];
}

function binary(...names: readonly string[]): Uint8Array {
  const resources = names.map((name) => {
    const value = api.readResource({ "@type": CLUSTER, name }).input?.bytes ?? new Uint8Array();
    return { typeUrl: CLUSTER, value };
  });
  return encodeSotwResponse({ versionInfo: "7", resources });
}

describe("- reads standard input", () => {
  test("of validate, with places in it", async () => {
    expect(await xds(`"@type": ${ENDPOINTS}\ncluster_name: one\n`, "validate", "-")).toEqual([
      0,
      "-: 1 resource in 1 file, no problems\n",
      "",
    ]);
    const [code, stdout] = await xds(`"@type": ${CLUSTER}\nnmae: one\n`, "validate", "-");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^-:2:1: error: /m);
    const [, json] = await xds(`{"@type": "${CLUSTER}", "name": "a",\n"nmae": 1}`, "validate", "-", "-o", "json");
    expect(JSON.parse(json).problems).toMatchObject([{ file: "-", line: 2 }]);
  });

  test.each<readonly [string, string | Uint8Array]>([
    ["YAML", `version_info: "7"\nresources:\n- "@type": ${CLUSTER}\n  name: one\n`],
    ["JSON", JSON.stringify({ resources: [{ "@type": CLUSTER, name: "one" }] }, undefined, "\t")],
    ["binary", binary("one")],
  ])("of get --file: %s", async (_, input) => {
    const [code, stdout, stderr] = await xds(input, "get", "clusters", "--file", "-", "-o", "json");
    expect([code, JSON.parse(stdout), stderr]).toEqual([0, [{ "@type": CLUSTER, name: "one" }], ""]);
  });

  test("of get --file, called - in what is wrong with it", async () => {
    const [code, , stderr] = await xds("resources: [", "get", "cds", "--file", "-", "--timeout", "2s");
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^xds: -: /)]);
    expect(stderr).not.toContain("input.yaml");
  });

  test("of check", async () => {
    const [code, stdout] = await xds("static_resources: {\n", "check", "-");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^-:\d+:\d+: error: [\s\S]*^-: the bootstrap cannot be used$/m);
    const bootstrap = { static_resources: { listeners: [], clusters: [] } };
    const [, json] = await xds(JSON.stringify(bootstrap), "check", "-", "-o", "json", "--timeout", "1s");
    expect(JSON.parse(json).bootstrap).toEqual([]);
  });

  test("of no command that follows changes", async () => {
    expect(await xds("", "watch", "cds", "--file", "-")).toEqual([
      2,
      "",
      "xds: standard input does not change\nhint: xds get --file - reads it\n",
    ]);
  });

  test("of the built command", async () => {
    const bin = fileURLToPath(new URL("../bin/xds.js", import.meta.url));
    const child = spawn(process.execPath, [bin, "validate", "-"]);
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    child.stdin.end(`"@type": ${ENDPOINTS}\ncluster_name: one\n`);
    expect(await once(child, "close")).toEqual([0, null]);
    expect(text).toBe("-: 1 resource in 1 file, no problems\n");
  });
});
