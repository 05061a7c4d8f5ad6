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
