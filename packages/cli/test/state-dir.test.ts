import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clusters, Serving, Site } from "./serving.ts";

let site: Site;
let folder: string;

beforeEach(async () => {
  site = await Site.make({ "clusters.yaml": clusters("hello") });
  folder = await mkdtemp(join(tmpdir(), "xds-state-"));
});
afterEach(async () => {
  await site.remove();
  await rm(folder, { recursive: true, force: true });
});

/** What a server that listens at an address says of its history. */
async function historyAt(listen: string, ...flags: readonly string[]): Promise<readonly unknown[]> {
  const env = { XDG_STATE_HOME: folder };
  const serving = await Serving.start(site, ["--listen", listen, ...flags], { env });
  await serving.stop();
  return ["history-opened", "history-elsewhere"].flatMap((event) =>
    serving.logged(event).map(({ level, directory, ledger, listen: of }) => ({ level, directory, ledger, of })),
  );
}

async function stateDirs(): Promise<readonly string[]> {
  return (await readdir(join(folder, "xdskit"))).map((name) => join(folder, "xdskit", name));
}

test("the log says whether a history begins or goes on, and where another address has one", async () => {
  const opened = (directory: string | undefined, ledger: string) => ({
    level: "info",
    directory,
    ledger,
    of: undefined,
  });
  expect(await historyAt("127.0.0.1:0")).toEqual([opened(expect.any(String) as string, "new")]);
  const [first] = await stateDirs();
  expect(await historyAt("127.0.0.1:0")).toEqual([opened(first, "continued")]);

  const elsewhere = { level: "warn", directory: first, ledger: undefined, of: "127.0.0.1:0" };
  const moved = await historyAt("localhost:0");
  const second = (await stateDirs()).find((directory) => directory !== first);
  expect(moved).toEqual([opened(second, "new"), elsewhere]);
  expect(await historyAt("localhost:0")).toEqual([opened(second, "continued")]);
});

test("a history whose files were deleted begins anew", async () => {
  await historyAt("127.0.0.1:0");
  const [first = ""] = await stateDirs();
  for (const name of await readdir(join(first, "ledger"))) await rm(join(first, "ledger", name));
  expect(await historyAt("127.0.0.1:0")).toMatchObject([{ directory: first, ledger: "new" }]);
});

test("the directory that is named goes on with that history", async () => {
  await historyAt("127.0.0.1:0");
  const [first = ""] = await stateDirs();
  const on = [{ level: "info", directory: first, ledger: "continued", of: undefined }];
  expect(await historyAt("localhost:0", "--state-dir", first)).toEqual(on);
});

test("a server whose directory another one uses opens no history, and leaves the directory as it is", async () => {
  const on = ["--state-dir", join(folder, "shared")];
  const first = await Serving.start(site, on);
  const remembered = await readFile(join(folder, "shared", "source.json"), "utf8");
  const other = await Site.make({ "clusters.yaml": clusters("hello") });
  const second = await Serving.start(other, on);
  await Promise.all([first.stop(), second.stop(), other.remove()]);
  expect([first, second].map((serving) => serving.logged("history-opened").length)).toEqual([1, 0]);
  expect(second.logged("history-problem")).toMatchObject([{ level: "warn" }]);
  expect(await readFile(join(folder, "shared", "source.json"), "utf8")).toBe(remembered);
});

test("the history of another source is none of this one's", async () => {
  await historyAt("127.0.0.1:0");
  await site.remove();
  site = await Site.make({ "clusters.yaml": clusters("hello") });
  expect(await historyAt("localhost:0")).toMatchObject([{ ledger: "new" }]);
});

test("without a state directory nothing is said", async () => {
  expect(await historyAt("127.0.0.1:0", "--state-dir", "off")).toEqual([]);
});
