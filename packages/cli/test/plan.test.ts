import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PlanOutput } from "../src/commands/plan.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const many = Array.from({ length: 30 }, (_, i) => `c${i}`);
let site: Site;
let wanted: Site;
let serving: Serving;

beforeEach(async () => {
  site = await Site.make({ "a.yaml": clusters(...many) });
  wanted = await Site.make();
  serving = await Serving.start(site);
  await until("it is ready", () => serving.isReady());
}, 30_000);
afterEach(async () => {
  await serving.stop();
  await site.remove();
  await wanted.remove();
});

const plan = (...words: readonly string[]): ReturnType<Serving["xds"]> =>
  serving.xds("plan", wanted.directory, "--validation", "off", ...words);

async function head(): Promise<unknown> {
  return (await serving.ask("/api/v1/revisions"))["head"];
}

describe("what publishing a directory would do", () => {
  test("nothing, if the server has it", async () => {
    await wanted.write("other-name.yaml", clusters(...many));
    expect(await plan()).toEqual({
      code: 0,
      stdout: [
        "result      nothing would change",
        "upon        1",
        "nodes       0 of 0 connected nodes would notice",
        `problems    30 warnings: xds validate ${wanted.directory}`,
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  test("by layer, type and resource, with the fields; nothing is applied", async () => {
    const timeout = clusters(...many).replace("name: c0\n", "name: c0\n  connect_timeout: 9s\n");
    await wanted.write("a.yaml", `${timeout}${clusters("new")}`);
    const { code, stdout } = await plan("--fields");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: [
        "result      it would be in force at once",
        "upon        1",
        "nodes       0 of 0 connected nodes would notice",
        `problems    31 warnings: xds validate ${wanted.directory}`,
        "",
        "LAYER  TYPE  ADDED  CHANGED  DELETED",
        "base   cds   +1     ~1",
        "",
        "changed base cds c0",
        '      connect_timeout: (none) -> "9s"',
        "added   base cds new",
        "",
      ].join("\n"),
    });
    expect(await head()).toBe(1);
  });

  test("of more changes than a plan lists names the command that lists all", async () => {
    await wanted.write("a.yaml", clusters(...many, ...Array.from({ length: 1_001 }, (_, i) => `new-${i}`)));
    const rest = `and 1 more: xds diff head ${wanted.directory} lists all\n`;
    expect((await plan("--limit", "1000")).stdout).toContain(rest);
    expect(await serving.xds("diff", "head", wanted.directory)).toMatchObject({
      stdout: expect.stringMatching(/\n1001 resources differ, 30 equal\n$/),
    });
    expect(await plan("--limit", "1001")).toMatchObject({
      ...{ code: 2, stderr: 'xds: --limit: expected a whole number from 1 to 1000, got "1001"\n' },
    });
  });

  test("of a directory that is not there is that of a source with errors", async () => {
    const { code, stdout, stderr } = await serving.xds("plan", join(wanted.directory, "nowhere"));
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain("there is no directory");
  });

  test("held by a fuse, which is exit code 6", async () => {
    await wanted.write("a.yaml", clusters("c0"));
    const { code, stdout } = await plan("--limit", "1");
    expect(code).toBe(6);
    expect(stdout).toContain("result      a fuse would hold it\n");
    expect(stdout).toContain(
      "held by     resources-removed: 29 of 30 Cluster resources would be gone from layer base\n",
    );
    expect(stdout).toMatch(/\ndeleted +base +cds +c1 +\S+\nand 28 more: --limit 29\n$/);
    const asJson = JSON.parse((await plan("-o", "json")).stdout) as PlanOutput;
    expect(asJson).toMatchObject({ result: "held", total: 29, problems: [{ severity: "warning" }] });
    expect(await head()).toBe(1);
  });

  test("nothing of a directory with errors, which is exit code 3", async () => {
    await wanted.write("a.yaml", "- name: [\n");
    const { code, stdout } = await plan();
    expect(code).toBe(3);
    expect(stdout).toMatch(/a\.yaml:1:9: error: [\s\S]*: 1 error.*: nothing of it would be published\n$/);
    expect(JSON.parse((await plan("-o", "json")).stdout)).toMatchObject({ result: "source-broken" });
  });

  test("and which connected nodes would notice", async () => {
    const nodes = [await serving.connect("edge-1"), await serving.connect("edge-2")];
    await wanted.write("a.yaml", clusters(...many, "new"));
    expect((await plan()).stdout).toContain("2 of 2 connected nodes would notice: edge-1, edge-2\n");
    for (const node of nodes) await node.close();
  });
});
