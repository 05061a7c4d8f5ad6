import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource, createModuleSource, type Load } from "@xdskit/source";
import { expect, onTestFinished, test } from "vitest";
import { FollowedSettings } from "../src/directory/followed-settings.ts";
import { cluster, temporaryDirectory, write } from "./support/temporary-directory.ts";

const api = createEnvoyApi();
const oneRule = `access:
  loopback: rules
  rules:
    - name: everything
      identities: [loopback]
`;
const rules = `${oneRule}    - name: no keys
      identities: [loopback]
      types: [Secret]
      deny: true
`;
const PAUSE_MS = 100;
/** Longer than a file that seems to be half written is waited for. */
const SETTLED_MS = 1200;

/** The rules of all loads that a watch finds while a directory with two rules changes, and its problems. */
async function followed(change: (directory: string) => Promise<void>): Promise<readonly (number | string)[]> {
  const directory = temporaryDirectory({ "a.yaml": cluster("a"), "xdskit.yaml": rules });
  const source = createDirectorySource({ directory, api });
  await source.load();
  const found: (number | string)[] = [];
  const abort = new AbortController();
  const watching = (async () => {
    for await (const load of source.watch(abort.signal)) found.push(summaryOf(load));
  })();
  onTestFinished(() => abort.abort());
  await sleep(150);
  await change(directory);
  await sleep(SETTLED_MS);
  abort.abort();
  await watching;
  return found;
}

function summaryOf({ state, problems }: Load): number | string {
  if (state === undefined) return problems.map(({ code, file }) => `${code} ${file}`).join();
  return state.access?.rules.length ?? 0;
}

test.each<[how: string, change: (file: string) => Promise<void>]>([
  [
    "truncated and then written",
    async (file) => {
      writeFileSync(file, "");
      await sleep(PAUSE_MS);
      writeFileSync(file, rules);
    },
  ],
  [
    "renamed to a backup and then written",
    async (file) => {
      renameSync(file, `${file}~`);
      await sleep(PAUSE_MS);
      writeFileSync(file, rules);
    },
  ],
  [
    "written in two parts",
    async (file) => {
      writeFileSync(file, oneRule);
      await sleep(PAUSE_MS);
      writeFileSync(file, rules);
    },
  ],
  [
    "written in two parts, the first of which ends within a line",
    async (file) => {
      writeFileSync(file, oneRule.slice(0, -4));
      await sleep(PAUSE_MS);
      writeFileSync(file, rules);
    },
  ],
])("access rules stay in force while their file is %s", async (_, change) => {
  const found = await followed((directory) => change(join(directory, "xdskit.yaml")));
  expect(found.filter((each) => each !== 2)).toEqual([]);
});

test.each([
  ["empty", ""],
  ["of white space", " \n\n"],
  ["of comments", "# access:\n"],
])("a settings file %s where there were settings is a problem", async (_, text) => {
  expect(await followed(async (directory) => write(directory, "xdskit.yaml", text))).toEqual([
    "FILE_EMPTY xdskit.yaml",
  ]);
});

test("a settings file that is deleted, or says that it holds nothing, ends the access rules", async () => {
  expect(await followed(async (directory) => rmSync(join(directory, "xdskit.yaml")))).toEqual([0]);
  expect(await followed(async (directory) => write(directory, "xdskit.yaml", "{}\n"))).toEqual([0]);
});

test("the rules are kept for as long as the file stays half written, each time anew", async () => {
  const directory = temporaryDirectory({ "xdskit.yaml": rules });
  const file = join(directory, "xdskit.yaml");
  const settings = new FollowedSettings(directory);
  expect(await settings.refresh()).toBe("changed");
  renameSync(file, `${file}~`);
  expect(await settings.refresh()).toBe("changing");
  await sleep(600);
  renameSync(`${file}~`, file);
  await settings.refresh();
  rmSync(file);
  expect(await settings.refresh()).toBe("changing");
  expect(settings.content.access?.rules.length).toBe(2);
});

test("a change that takes no access rule away is used at once, whether rewritten or renamed", async () => {
  const directory = temporaryDirectory({ "xdskit.yaml": rules });
  const settings = new FollowedSettings(directory);
  await settings.refresh();
  write(directory, "xdskit.yaml", `${rules}groups: [{ name: g, match: { id: x } }]\n`);
  expect(await settings.refresh()).toBe("changed");
  write(directory, "next", `${rules}    - name: more\n      identities: [anyone]\n`);
  renameSync(join(directory, "next"), join(directory, "xdskit.yaml"));
  expect(await settings.refresh()).toBe("changed");
  expect(settings.content.access?.rules.length).toBe(3);
});

test("access rules beside a module stay in force while their file is empty", async () => {
  const directory = temporaryDirectory({ "mesh.mjs": "export default { layers: {} };\n", "xdskit.yaml": rules });
  const source = createModuleSource({ module: join(directory, "mesh.mjs"), api, allowEmpty: true });
  onTestFinished(() => source.close?.());
  expect(summaryOf(await source.load())).toBe(2);
  write(directory, "xdskit.yaml", "");
  const loading = source.load();
  await sleep(PAUSE_MS);
  write(directory, "xdskit.yaml", rules);
  expect(summaryOf(await loading)).toBe(2);
  write(directory, "xdskit.yaml", "");
  expect(summaryOf(await source.load())).toBe("FILE_EMPTY xdskit.yaml");
});
