import type { RevisionAnswer, RevisionsAnswer } from "@xdskit/server";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { clusters, Serving, Site, until } from "./serving.ts";

const many = Array.from({ length: 30 }, (_, i) => `c${i}`);
let site: Site;
let state: Site;
let serving: Serving;

beforeEach(async () => {
  site = await Site.make({ "a.yaml": clusters(...many) });
  state = await Site.make();
  serving = await Serving.start(site, ["--state-dir", state.directory]);
  await until("it is ready", () => serving.isReady());
}, 30_000);
afterEach(async () => {
  await serving.stop();
  await site.remove();
  await state.remove();
});

const xds = (...words: readonly string[]): ReturnType<Serving["xds"]> => serving.xds(...words);

async function newest(): Promise<RevisionAnswer | undefined> {
  const { stdout } = await xds("history", "-o", "json");
  return (JSON.parse(stdout) as RevisionsAnswer).items[0];
}

async function saved(text: string, number: number): Promise<void> {
  await site.write("a.yaml", text);
  await until(`there is a record ${number}`, async () => (await newest())?.number === number);
}

describe("states are compared", () => {
  test("by number, also with a directory, by resource and field", async () => {
    await saved(clusters(...many).replace("name: c0\n", "name: c0\n  connect_timeout: 9s\n"), 2);
    const differs = (a: string, b: string): string =>
      `  base Cluster c0\n      connect_timeout: ${a} -> ${b}\n1 resource differs, 29 equal\n`;
    expect(await xds("diff", "1", "head")).toEqual({ code: 1, stdout: differs("(none)", '"9s"'), stderr: "" });
    expect((await xds("diff", "2", "1")).stdout).toBe(differs('"9s"', "(none)"));
    expect((await xds("diff", "1", site.directory)).stdout).toBe(differs("(none)", '"9s"'));
    expect((await xds("diff", "0", "1")).stdout).toMatch(
      /^[+] base Cluster c0\n[\s\S]*30 resources differ, 0 equal\n$/,
    );
    expect(await xds("diff", "head", "2")).toMatchObject({ code: 0, stdout: "0 resources differ, 30 equal\n" });
    expect(await xds("diff", "head", "9")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("there is no record 9 yet"),
    });
  }, 60_000);

  test("with what is held", async () => {
    expect(await xds("diff", "head", "held")).toMatchObject({ code: 1, stderr: "xds: nothing is held\n" });
    await saved(clusters("c0"), 2);
    expect((await xds("diff", "head", "held")).stdout).toMatch(
      /^- base Cluster c1\n[\s\S]*29 resources differ, 1 equal\n$/,
    );
  }, 60_000);
});

describe("more than a page of changes", () => {
  const thousands = Array.from({ length: 2_100 }, (_, i) => `new-${String(i).padStart(4, "0")}`);

  test("is shown up to the limit, and the rest by the limit that is told", async () => {
    await saved(clusters(...many, ...thousands), 2);
    const isShown = async (revision: string): Promise<void> => {
      expect((await xds("show", revision, "--limit", "1500")).stdout).toMatch(
        /new-1499 .*\nand 600 more: --limit 2100\n$/,
      );
      const { stdout } = await xds("show", revision, "--limit", "2100");
      expect([stdout.match(/^added /gm)?.length, stdout]).toEqual([2_100, expect.stringMatching(/new-2099 +\S+\n$/)]);
    };
    await isShown("2");
    await isShown("head");
    expect((await xds("approve", "2")).code).toBe(0);
    await isShown("1..head");
    const { changes, next } = JSON.parse((await xds("show", "2", "--limit", "1500", "-o", "json")).stdout);
    expect([changes.length, next]).toEqual([1_500, 1_500]);
  }, 60_000);

  test("and what no limit is, is an error of usage", async () => {
    const stderr = (range: string, given: string): string =>
      `xds: --limit: expected a whole number from ${range}, got "${given}"\n`;
    expect(await xds("show", "1", "--limit", "0")).toEqual({ code: 2, stdout: "", stderr: stderr("1", "0") });
    expect(await xds("history", "--limit", "0")).toMatchObject({ code: 2, stderr: stderr("1 to 1000", "0") });
    expect(await xds("history", "--limit", "1001")).toMatchObject({ code: 2, stderr: stderr("1 to 1000", "1001") });
    expect(await xds("history", "--node", "a", "--limit", "x")).toMatchObject({ code: 2, stderr: stderr("1", "x") });
  });
});

describe("a change that turns out to be bad", () => {
  test("is found in the history, shown, and taken back; the files are held until they differ", async () => {
    await saved(clusters(...many, "bad"), 2);
    expect((await xds("show", "head")).stdout).toMatch(/^revision +2\n[\s\S]*\nadded +base +cds +bad/m);
    expect((await xds("show", "2..1")).stdout).toMatch(/\ndeleted +base +cds +bad +\S+\n$/);
    expect(await xds("rollback", "1", "-m", "errors since 2")).toEqual({
      code: 0,
      stdout: expect.stringMatching(
        /^back at 1: recorded as 3; xds wait --revision head waits until every client is there\nCHANGE .*\ndeleted +base +cds +bad +\S+\n$/,
      ),
      stderr: "",
    });
    expect(await newest()).toMatchObject({ kind: "rolled-back", to: 1, message: "errors since 2", deleted: 1 });
    const differs = "the files differ from what is in force (rolled back by 3)";
    expect(await xds("wait", "--min-nodes", "0")).toMatchObject({ code: 3, stderr: expect.stringContaining(differs) });
    expect((await xds("wait", "--revision", "head", "--min-nodes", "0")).code).toBe(0);
    expect((await xds("status")).stdout).toMatch(
      /^source +good .*, the files differ from what is in force \(rolled back by 3\)$/m,
    );
    await saved(clusters(...many, "bad", "other"), 4);
    expect(await newest()).toMatchObject({ kind: "held", added: 2 });
    await saved(clusters(...many, "other"), 5);
    expect(await newest()).toMatchObject({ kind: "revision", added: 1 });
    expect((await xds("wait", "--min-nodes", "0")).code).toBe(0);
    expect((await xds("status")).stdout).not.toContain("differ");
  }, 60_000);
});

test("a rollback that a fuse would hold is refused unless it is forced, and goes to changes only", async () => {
  await saved(clusters(...many, ...many.map((name) => `${name}-more`)), 2);
  await saved(clusters(...many, ...many.map((name) => `${name}-more`), "last"), 3);
  const stopped = "a fuse stops this rollback: 31 of 61 Cluster resources would be gone from layer base";
  expect(await xds("rollback", "1")).toEqual({
    ...{ code: 1, stdout: "", stderr: `xds: ${stopped}\nhint: --force rolls back all the same\n` },
  });
  expect(await xds("rollback", "0")).toMatchObject({
    ...{ code: 1, stderr: "xds: nothing was in force at 0: use 1\n" },
  });
  expect(await newest()).toMatchObject({ number: 3 });
  const { code, stdout } = await xds("rollback", "1", "--force");
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^back at 1: [\s\S]*\nand 28 more: xds show 4\n$/)]);
  expect(await newest()).toMatchObject({ number: 4, kind: "rolled-back", to: 1, deleted: 31 });
}, 60_000);

describe("a change that a fuse holds", () => {
  beforeEach(() => saved(clusters("c0"), 2), 30_000);

  test("is shown with why, and in force once it is approved", async () => {
    expect((await xds("history", "--limit", "1")).stdout).toMatch(/^2 +\S+ +held .* -29 +29 of 30 /m);
    expect((await xds("show", "2", "--limit", "2")).stdout).toMatch(
      /\nheld by .*\n[\s\S]*\nand 27 more: --limit 29\n$/,
    );
    expect((await xds("approve")).stdout).toBe("2 is in force: recorded as 3\n");
    expect(await xds("approve")).toEqual({ code: 1, stdout: "", stderr: "xds: nothing is held\n" });
    expect(await newest()).toMatchObject({ kind: "approved", of: 2, deleted: 29, author: "loopback" });
  });

  test("is never deployed: head is the newest in force, and its number says what it is", async () => {
    const head = await xds("wait", "--revision", "head", "--min-nodes", "0");
    expect(head).toMatchObject({ code: 0, stdout: "revision 1 is deployed: 0 of 0 nodes have it\n" });
    expect((await xds("status")).stdout).toMatch(/^revision +1: /m);
    expect(await serving.ask("/api/v1/server")).toMatchObject({ revision: 1, ledger: { number: 2 } });
    const held = await xds("wait", "--revision", "2", "--min-nodes", "0");
    const why = "2 is held: 29 of 30 Cluster resources would be gone from layer base";
    expect(held).toMatchObject({ code: 6, stderr: expect.stringContaining(why) });
    expect((await xds("reject", "2")).code).toBe(0);
    for (const number of ["2", "3"]) expect((await xds("wait", "--revision", number)).code).toBe(1);
    expect(await xds("wait")).toMatchObject({
      ...{ code: 3, stderr: expect.stringContaining("the files differ from what is in force (rejected by 3)") },
    });
  });

  test("is dropped when it is rejected", async () => {
    expect(await xds("reject", "2", "-m", "an empty checkout")).toEqual({
      code: 0,
      stdout: "2 is dropped: recorded as 3\n",
      stderr: "",
    });
    expect((await xds("show", "1..head")).stdout).toBe("no resource is different\n");
    expect(await xds("approve", "2")).toEqual({
      code: 1,
      stdout: "",
      stderr: "xds: 2 is not held; nothing is\n",
    });
  });
});

test("what is not there is an error with a hint", async () => {
  expect(await xds("show", "9")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("there is no record 9 yet\nhint: the newest is 1") as string,
  });
  expect((await xds("rollback", "9")).code).toBe(1);
});
