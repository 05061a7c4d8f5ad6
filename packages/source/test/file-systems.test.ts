import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { expect, test } from "vitest";
import { DirectoryReading } from "../src/directory/directory-reading.ts";
import { asyncFileSystem, type FileSystem, syncFileSystem } from "../src/directory/file-system.ts";
import { cluster, temporaryDirectory, write } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const options = {
  api,
  validation: undefined,
  maxFileBytes: 4096,
  allowEmpty: undefined,
  findsVersionLoss: false,
  secretFiles: undefined,
};

test("a directory reads the same whether the thread is blocked for it or not", async () => {
  const directory = temporaryDirectory({
    "a.yaml": cluster("a"),
    "b.yaml": `${cluster("b")}conect_timeout: 1s\n`,
    "twice.yaml": cluster("a"),
    "folder/c.json": "[{]",
    "large.yaml": `# ${"x".repeat(5000)}\n`,
    "other.yml.bak": "",
    "empty.yaml": "",
  });
  symlinkSync("nowhere.yaml", join(directory, "dangling.yaml"));
  symlinkSync("..", join(directory, "folder", "up"));
  symlinkSync("a.yaml", join(directory, "linked.yaml"));
  mkdirSync(join(directory, "folder.yaml"));
  execFileSync("mkfifo", [join(directory, "pipe.yaml")]);
  const readings = [asyncFileSystem, syncFileSystem].map(
    (fileSystem: FileSystem) => new DirectoryReading({ ...options, directory, fileSystem }),
  );
  const looks = async (): Promise<readonly unknown[]> =>
    await Promise.all(readings.map((reading) => reading.look(new Set([""]), { isPatient: false })));
  const [here, there] = await looks();
  expect(there).toEqual(here);
  write(directory, "b.yaml", cluster("b"));
  const [changedHere, changedThere] = await looks();
  expect(changedThere).toEqual(changedHere);
  expect(changedHere).not.toEqual(here);
});

test("a changed file is read with few calls, although it has a problem that only other files show", async () => {
  const assignment = (port: number): string =>
    JSON.stringify({
      "@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
      cluster_name: "of no cluster",
      endpoints: [
        { lb_endpoints: [{ endpoint: { address: { socket_address: { address: "::1", port_value: port } } } }] },
      ],
    });
  const directory = temporaryDirectory({ "a.json": assignment(1), "b.yaml": cluster("b") });
  const calls: string[] = [];
  const reading = new DirectoryReading({ ...options, directory, fileSystem: recording(calls) });
  await reading.look(new Set([""]), { isPatient: false });
  write(directory, "a.json", assignment(2));
  calls.length = 0;
  const { load } = await reading.look(new Set(["a.json"]), { isPatient: false });
  expect(load.problems.map(({ code, line }) => [code, line])).toEqual([["RESOURCE_UNUSED", 1]]);
  expect(calls).toEqual(["realpath", "stat", "open", "stat", "readFile", "stat", "close"]);
});

/** Reads without blocking the thread, and records its calls. */
function recording(calls: string[]): FileSystem {
  const recorded = <T extends object>(object: T): T =>
    Object.fromEntries(
      Object.entries(object).map(([name, call]) => [
        name,
        async (...args: unknown[]) => {
          calls.push(name);
          const result: unknown = await (call as (...given: unknown[]) => unknown)(...args);
          return name === "open" ? recorded(result as object) : result;
        },
      ]),
    ) as T;
  return recorded(asyncFileSystem);
}
