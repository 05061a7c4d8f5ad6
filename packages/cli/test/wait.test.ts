import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

const cleanups: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function serve(files: Readonly<Record<string, string>>): Promise<{ site: Site; serving: Serving }> {
  const site = await Site.make(files);
  cleanups.push(() => site.remove());
  const serving = await Serving.start(site);
  cleanups.push(() => serving.stop());
  await until("it is ready", () => serving.isReady());
  return { site, serving };
}

/** A client that subscribes to all clusters and ACKs them, until the test ends. */
async function subscribe(serving: Serving, node: string): Promise<void> {
  const client = await serving.connect(node);
  cleanups.push(() => client.close());
}

describe("xds wait", () => {
  test("says that everybody has what the files have now, in the instant after a change", async () => {
    const { site, serving } = await serve({ "clusters.yaml": clusters("one") });
    await subscribe(serving, "edge-1");
    await subscribe(serving, "edge-2");
    expect(await serving.xds("wait")).toEqual({
      code: 0,
      stdout: "revision 1 is deployed: 2 of 2 nodes have it\n",
      stderr: "",
    });
    for (let revision = 2; revision < 5; revision++) {
      await site.write("clusters.yaml", clusters("one", `new-${revision}`));
      const { code, stdout } = await serving.xds("wait", "--min-nodes", "2", "-o", "json");
      expect([code, JSON.parse(stdout)]).toMatchObject([0, { revision, state: "deployed", nodes: 2, deployed: 2 }]);
      expect((await serving.xds("get", "cds", `new-${revision}`)).code).toBe(0);
    }
  });

  test("of files with errors ends with 3 at once, though the last valid configuration is everywhere", async () => {
    const { site, serving } = await serve({ "clusters.yaml": clusters("one") });
    await subscribe(serving, "edge-1");
    await site.write("clusters.yaml", "- [");
    const { code, stdout, stderr } = await serving.xds("wait");
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toBe(
      "xds: the source has 1 error\nhint: `xds validate DIR` lists them, as GET /api/v1/source does\n",
    );
    expect((await serving.xds("wait", "--revision", "head")).code).toBe(0);
    const { stdout: status } = await serving.xds("status");
    expect(status).toContain("1 error, the last valid configuration is in force");
    expect(status).toContain("\nclusters.yaml:1: error: ");
  });

  test("counts errors as status does, also those that a load leaves out", async () => {
    const wrong = Array.from({ length: 1_200 }, (_, index) => `- name: c${index}\n  nonsense: 1\n`);
    const site = await Site.make({ "clusters.yaml": wrong.join("") });
    cleanups.push(() => site.remove());
    const serving = await Serving.start(site);
    cleanups.push(() => serving.stop());
    await until("the load failed", () => serving.logged("load-failed").length > 0);
    const [failed] = serving.logged("load-failed");
    const { stderr } = await serving.xds("wait");
    const { stdout: status } = await serving.xds("status");
    const counts = [
      `${failed?.["errors"]} errors`,
      ...[stderr, status].flatMap((text) => text.match(/\d+ errors/g) ?? []),
    ];
    expect(counts).toEqual(["1200 errors", "1200 errors", "1200 errors", "1200 errors"]);
    expect(status).toContain("\nand 1197 more: ");
  });

  test("with nobody connected ends with 5, unless nobody needs to be", async () => {
    const { serving } = await serve({ "clusters.yaml": clusters("one") });
    expect(await serving.xds("wait", "--timeout", "0s")).toMatchObject({
      code: 5,
      stdout: "revision 1: no node is connected: 0 of 0 nodes have it\n",
    });
    expect((await serving.xds("wait", "--min-nodes", "0")).code).toBe(0);
    await subscribe(serving, "edge-1");
    expect((await serving.xds("wait", "--nodes", "web-*", "--timeout", "0s")).code).toBe(5);
    expect((await serving.xds("wait", "--nodes", "edge-*")).code).toBe(0);
  });

  test("the clients of the command line are no nodes, connected or gone", async () => {
    const { site, serving } = await serve({ "clusters.yaml": clusters("one") });
    await subscribe(serving, "edge-1");
    const io = new CapturedIo({ env: { XDS_SERVER: serving.address } });
    const watching = run(["watch", "cds"], io);
    await until("it watches", () => io.stdout.text.includes("name: one"));
    expect((await serving.xds("get", "cds", "--node", "edge-2")).code).toBe(0);
    await site.write("clusters.yaml", clusters("one", "two"));
    expect((await serving.xds("wait")).stdout).toBe("revision 2 is deployed: 1 of 1 node has it\n");
    expect((await serving.xds("status")).stdout).not.toContain("xds-cli");
    io.interrupt("SIGTERM");
    await watching;
    await site.write("clusters.yaml", clusters("one"));
    expect((await serving.xds("wait")).stdout).toBe("revision 3 is deployed: 1 of 1 node has it\n");
    expect((await serving.xds("status")).stdout).toContain("revision  3: 1 of 1 node has it\n");
    const metrics = await (await fetch(`http://${serving.admin}/metrics`)).text();
    expect(metrics).toContain('xds_server_nodes{state="deployed"} 1\n');
    expect(metrics).toContain('xds_server_nodes{state="disconnected"} 0\n');
  });

  test("ends when its time is over, also if the server does not answer", { timeout: 10_000 }, async () => {
    const admin = await hungAdmin([]);
    const io = new CapturedIo();
    const code = await run(["wait", "--admin", admin, "--timeout", "1s"], io);
    expect([code, io.stdout.text, io.stderr.text]).toEqual([
      69,
      "",
      `xds: no answer from the admin API at ${admin} within 1 s\nhint: is that the port of the admin API?\n`,
    ]);
  });

  test("says what it knows if the server stops answering before its time is over", { timeout: 10_000 }, async () => {
    const nobody = { total: 0, nodes: [] };
    const counts = { revision: 7, head: 7, nodes: 1, deployed: 0 };
    const admin = await hungAdmin([
      { ...counts, state: "pending", pending: { total: 1, nodes: [] }, nacked: nobody, disconnected: nobody },
    ]);
    const io = new CapturedIo();
    const code = await run(["wait", "--admin", admin, "--timeout", "1s"], io);
    expect([code, io.stderr.text, io.stdout.text]).toEqual([
      4,
      "",
      "revision 7 is not deployed yet: 0 of 1 node has it, 1 pending\n",
    ]);
  });

  test.each([
    [["--revision", "one"], '--revision: expected a whole number, got "one"'],
    [["--min-nodes", "-1"], '--min-nodes: expected a whole number, got "-1"'],
    [["--timeout", "soon"], "--timeout: "],
    [["--source", "--revision", "1"], "cannot be used with option"],
  ])("%o is refused", async (flags, message) => {
    const io = new CapturedIo();
    expect(await run(["wait", ...flags], io)).toBe(2);
    expect(io.stderr.text).toContain(message);
  });
});

test("xds status shows groups of nodes", async () => {
  const { serving } = await serve({ "clusters.yaml": clusters("one") });
  await subscribe(serving, "edge-1");
  await serving.xds("wait");
  const { code, stdout } = await serving.xds("status");
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^server {4}\S+ at 127[\d.:]+, up \S+, ready\nsource {4}good for \S+, 1 warning\nrevision {2}1: 1 of 1 node has it\nstreams {3}1\n\nclusters\.yaml:1: warning: .+\n\nAGENT +LAYERS +NODES +HAVE IT +PENDING +NACKED\nxdskit \S+ +base +1 +1\n$/,
  );
  const answer: unknown = JSON.parse((await serving.xds("status", "-o", "json")).stdout);
  expect(answer).toMatchObject({
    progress: { state: "deployed" },
    groups: [{ layers: ["base"], nodes: 1, pending: 0, nacked: 0 }],
  });
});

/** An admin API that gives these answers and then accepts requests without ever answering. Returns its address. */
async function hungAdmin(answers: readonly unknown[]): Promise<string> {
  const left = [...answers];
  const server = createServer((_, response) => {
    const answer = left.shift();
    if (answer !== undefined) response.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
