import { appendFile, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { encodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { Site, until } from "./serving.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const api = createEnvoyApi();

let site: Site;
beforeEach(async () => {
  site = await Site.make();
});
afterEach(() => site.remove());

const at = (...names: readonly string[]): string => join(site.directory, ...names);

/** A DiscoveryResponse as YAML. */
function yaml(version: string, ...names: readonly string[]): string {
  const resources = names.map((name) => `- "@type": ${CLUSTER}\n  name: ${name}\n`);
  return `version_info: "${version}"\nresources:\n${resources.join("")}`;
}

function json(version: string, ...names: readonly string[]): string {
  return JSON.stringify({ versionInfo: version, resources: names.map((name) => ({ "@type": CLUSTER, name })) });
}

function textFormat(version: string, ...names: readonly string[]): string {
  const resources = names.map((name) => `resources { [${CLUSTER}] { name: "${name}" } }\n`);
  return `version_info: "${version}"\n${resources.join("")}`;
}

function binary(version: string, ...names: readonly string[]): Uint8Array {
  const resources = names.map((name) => {
    const value = api.readResource({ "@type": CLUSTER, name }).input?.bytes ?? new Uint8Array();
    return { typeUrl: CLUSTER, value };
  });
  return encodeSotwResponse({ versionInfo: version, resources });
}

async function get(...argv: readonly string[]): Promise<readonly [code: number, stdout: string, stderr: string]> {
  const io = new CapturedIo({ cwd: site.directory });
  const code = await run(["get", ...argv], io);
  return [code, io.stdout.text, io.stderr.text];
}

describe("xds get --file", () => {
  test.each<readonly [file: string, text: string | Uint8Array]>([
    ["clusters.yaml", yaml("7", "b", "a")],
    ["clusters.YML", yaml("7", "b", "a")],
    ["clusters.json", json("7", "b", "a")],
    ["clusters.conf", json("7", "b", "a")],
    ["clusters.pb", binary("7", "b", "a")],
    ["clusters.pb_text", textFormat("7", "b", "a")],
  ])("C-FS-04 reads %s by how its name ends", async (file, text) => {
    await writeFile(at(file), text);
    expect(await get("cds", "--file", file, "-o", "table")).toEqual([
      0,
      "NAME  VERSION  BYTES\na     7        3\nb     7        3\n",
      "",
    ]);
  });

  test("of names prints those, and says which are not there", async () => {
    await site.write("clusters.yaml", yaml("7", "a", "b"));
    expect(await get("cds", "b", "c", "--file", "clusters.yaml")).toEqual([
      1,
      `---\n"@type": ${CLUSTER}\nname: b\n`,
      'xds: there is no resource "c" of type cds\n',
    ]);
  });

  test.each([
    ["nothing.yaml", undefined, "nothing.yaml: there is no such file"],
    ["broken.yaml", "a: [", "broken.yaml: line 1"],
    ["broken.json", "{", "broken.json: "],
    [
      "broken.pb",
      "\u00ff\u00ff",
      "broken.pb: expected an encoded DiscoveryResponse, got other bytes or a part of it\n",
    ],
    ["broken.pb_text", "version_info: 7", "broken.pb_text: line 1, column 15: "],
    ["list.yaml", "- 1\n", "list.yaml: expected an object, got a list\n"],
    [
      "other.yaml",
      `resources:\n- "@type": ${ENDPOINTS}\n  cluster_name: a\n`,
      `other.yaml: expected resources of ${CLUSTER}, got one of ${ENDPOINTS}\n`,
    ],
  ])("tells what is wrong with %s", async (file, text, message) => {
    if (text !== undefined) await site.write(file, text);
    const [code, stdout, stderr] = await get("cds", "--file", file);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr.replace(site.directory, "DIR")).toContain(`xds: ${message}`);
  });

  test.each(["--server 127.0.0.1:1", "--rest", "--sotw", "--tls"])("has nothing to do with %s", async (flags) => {
    const [code, , stderr] = await get("cds", "--file", "clusters.yaml", ...flags.split(" "));
    expect([code, stderr]).toEqual([
      2,
      expect.stringMatching(/^xds: option '--file <file>' cannot be used with option/),
    ]);
  });
});

describe("xds watch --file", () => {
  async function watching(
    file: string,
  ): Promise<{ io: CapturedIo; events: () => string[]; stop: () => Promise<number> }> {
    const io = new CapturedIo({ cwd: site.directory });
    const ended = run(["watch", "cds", "--file", file, "-o", "json"], io);
    const events = (): string[] =>
      io.stdout.text
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line))
        .map(({ event, name, version }) => [event, name, version].filter((word) => word !== undefined).join(" "));
    await until("the file is read", () => events().length > 0);
    const stop = (): Promise<number> => {
      io.interrupt();
      return ended;
    };
    return { io, events, stop };
  }

  test("C-FS-09 follows a file that is renamed over, and one that is written in place", async () => {
    await site.write("clusters.yaml", yaml("1", "a", "b"));
    const { io, events, stop } = await watching("clusters.yaml");
    await site.write("clusters.yaml", yaml("2", "b"));
    await until("the removal is told", () => events().includes("removed a"));
    await writeFile(at("clusters.yaml"), yaml("3", "b", "c"));
    await until("the addition is told", () => events().includes("put c 3"));
    expect(events()).toEqual(["put a 1", "put b 1", "removed a", "put c 3"]);
    expect([await stop(), io.stderr.text]).toEqual([130, ""]);
  });

  test("C-FS-10 follows a link that is swapped, as Kubernetes does it", async () => {
    for (const [folder, name] of [
      ["..1", "a"],
      ["..2", "b"],
    ] as const) {
      await mkdir(at(folder));
      await writeFile(at(folder, "clusters.json"), json(folder, name));
    }
    await symlink("..1", at("..data"));
    await symlink(join("..data", "clusters.json"), at("clusters.json"));
    const { events, stop } = await watching("clusters.json");
    await symlink("..2", at("..data_tmp"));
    await rename(at("..data_tmp"), at("..data"));
    await until("the other file is read", () => events().includes("put b ..2"));
    expect(await stop()).toBe(130);
  });

  test("C-FS-06 keeps what it has while the file cannot be read, and says so once for each change", async () => {
    await site.write("clusters.yaml", yaml("1", "a"));
    const { io, events, stop } = await watching("clusters.yaml");
    await site.write("clusters.yaml", "resources: [");
    await until("it is told", () => io.stderr.text.includes("xds: clusters.yaml: line 1"));
    await rm(at("clusters.yaml"));
    await until("it is told", () => io.stderr.text.includes("xds: clusters.yaml: there is no such file"));
    await site.write("clusters.yaml", yaml("2", "a", "b"));
    await until("it is read again", () => events().includes("put b 2"));
    expect(events()).toEqual(["put a 1", "error", "error", "put b 2"]);
    expect(io.stderr.text.trimEnd().split("\n")).toHaveLength(2);
    expect(await stop()).toBe(130);
  });

  test("is not told of other files beside it", async () => {
    await site.write("clusters.yaml", yaml("1", "a"));
    const { events, stop } = await watching("clusters.yaml");
    await appendFile(at("other.yaml"), "x");
    await site.write("clusters.yaml", yaml("2", "a", "b"));
    await until("the change is told", () => events().includes("put b 2"));
    expect(events()).toEqual(["put a 1", "put b 2"]);
    expect(await stop()).toBe(130);
  });
});
