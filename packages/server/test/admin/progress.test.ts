import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProgressAnswer } from "../../src/admin/answers/progress.ts";
import { CDS, node, RealMachine, resource } from "./real-machine.ts";

let world: RealMachine;
let origin = "";

beforeEach(async () => {
  world = new RealMachine();
  origin = `http://127.0.0.1:${(await world.admin.start())?.port}`;
});

afterEach(async () => {
  await world.admin.close();
  world.metrics.close();
});

async function ask(path: string): Promise<{ readonly status: number; readonly value: unknown }> {
  const response = await fetch(`${origin}/api/v1/progress/${path}`);
  return { status: response.status, value: await response.json() };
}

const nobody = { total: 0, nodes: [] };

describe("/api/v1/progress/{revision}", () => {
  test("waits no more for a caller that left", async () => {
    world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
    world.receive(world.open(), { kind: "delta", type: CDS, node: node("waits") });
    const { deployments } = world.view;
    const leave = new AbortController();
    const waiting = fetch(`${origin}/api/v1/progress/head?wait=30`, { signal: leave.signal }).catch(() => "left");
    await expect.poll(() => deployments.size).toBe(1);
    leave.abort();
    expect(await waiting).toBe("left");
    await expect.poll(() => deployments.size).toBe(0);
  });

  test("names who has it, who does not and why, and who left", async () => {
    world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
    const [has, refuses, waits, leaves] = [world.open(), world.open(), world.open(), world.open()];
    for (const [stream, id] of [
      [has, "has"],
      [refuses, "refuses"],
      [waits, "waits"],
      [leaves, "leaves"],
    ] as const)
      world.receive(stream, { kind: "delta", type: CDS, node: node(id) });
    world.receive(has, { kind: "delta", nonce: "1" });
    world.receive(refuses, { kind: "delta", nonce: "1", error: { code: 3, message: "bad\nport" } });
    world.close(leaves);
    const expected = {
      revision: 1,
      head: 1,
      state: "pending",
      nodes: 3,
      deployed: 1,
      pending: {
        total: 1,
        nodes: [expect.objectContaining({ id: "waits", types: [{ type: CDS, shortName: "cds", state: "pending" }] })],
      },
      nacked: {
        total: 1,
        nodes: [
          expect.objectContaining({
            id: "refuses",
            types: [{ type: CDS, shortName: "cds", state: "nacked", names: ["a"], reason: "bad\\nport" }],
          }),
        ],
      },
      disconnected: { total: 1, nodes: [{ id: "leaves" }] },
    };
    expect(await ask("1")).toEqual({ status: 200, value: expected });
    expect(await ask("head")).toEqual({ status: 200, value: expected });
    expect((await ask("1?node=has")).value).toMatchObject({ state: "deployed", nodes: 1, pending: nobody });
    expect((await ask("1?node=refuses")).value).toMatchObject({ state: "nacked", nodes: 1 });
    expect((await ask("1?node=has&min-nodes=2")).value).toMatchObject({ state: "too-few-nodes" });
    expect((await ask("1?limit=0")).value).toMatchObject({ pending: { total: 1, nodes: [] } });
  });

  test("waits until nothing is pending", async () => {
    world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
    const stream = world.open();
    world.receive(stream, { kind: "delta", type: CDS, node: node("n") });
    const answer = ask("1?wait=30");
    await expect.poll(() => world.waits).toBe(1);
    world.receive(stream, { kind: "delta", nonce: "1" });
    expect((await answer).value).toMatchObject({ state: "deployed", nodes: 1 });
    expect(world.waits).toBe(0);
  });

  test("of the source looks at it first, and says whether it has errors", async () => {
    world.refresh = () => {
      world.commit([{ layer: "base", puts: [resource(CDS, `c${world.machine.revision}`)] }]);
    };
    expect((await ask("source")).value).toMatchObject({ revision: 1 } satisfies Partial<ProgressAnswer>);
    const problem = { severity: "error", file: "a.yaml", line: 1, column: 1, code: "X", message: "x" } as const;
    world.source = { state: "failed", problems: [problem], since: new Date() };
    expect(await ask("source")).toEqual({
      status: 409,
      value: { error: "the source has 1 error", hint: "`xds validate DIR` lists them, as GET /api/v1/source does" },
    });
    world.source = { state: "loading", problems: [], since: new Date() };
    expect(await ask("source")).toMatchObject({ status: 409, value: { error: "the source is not loaded yet" } });
  });

  test.each([
    ["1", 404, "there is no revision 1 yet"],
    ["one", 400, 'expected a revision, head or source, got "one"'],
    ["%ff", 400, "the path is not valid UTF-8"],
    ["head?wait=31", 400, "wait: expected at most 30 seconds, got 31"],
    ["head?min-nodes=few", 400, 'min-nodes: expected a whole number, got "few"'],
  ])("%s is refused", async (path, status, error) => {
    expect(await ask(path)).toMatchObject({ status, value: { error } });
  });

  test("nothing is under it", async () => {
    expect((await ask("")).status).toBe(404);
    expect((await ask("1/2")).status).toBe(404);
  });
});
