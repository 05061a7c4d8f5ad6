import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerAnswer } from "@xdskit/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AnyClient, type ClientRow, everyClient, serviceFiles } from "./support/every-client.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import type { Backend } from "./support/http-backend.ts";
import { note } from "./support/measure.ts";
import { describeWith, peerCommand } from "./support/peers.ts";
import { startProcess } from "./support/process.ts";
import { startXdsServer, type XdsServer, xdsCommand } from "./support/server.ts";
import { createSite, type FileContent, type Site } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

/** The Envoys in their four modes, and three gRPC clients. */
const WANTED = /^(?:envoy-(?:ads-)?(?:delta|sotw)|grpc-(?:python|go|node))$/;
const SERVICE_CLUSTER = "shop-0.e2e.svc.cluster.local:80";
const MAPPING = "groups:\n  - name: edge\n    match: { id: ['*'] }\n";
const SPARE = Array.from({ length: 40 }, (_, index) => `spare-${String(index).padStart(2, "0")}`);

const stack = createStack();
const rows = (await everyClient(stack)).filter(
  ({ name, peer }) => WANTED.test(name) && peerCommand(peer) !== undefined,
);

/** What breaks the source, what `xds status` says then, and how it ends. */
interface Disaster {
  readonly when: string;
  readonly breaks: (scene: Scene) => void;
  readonly says: RegExp;
  /** `approve`: what is held is wanted after all. @default everything is put back */
  readonly ends?: "approve";
}

const disasters: readonly Disaster[] = [
  {
    when: "rm -rf of the directory",
    breaks: ({ real }) => rmSync(real, { recursive: true }),
    says: /source +failed for .*1 error, the last valid configuration is in force/,
  },
  {
    when: "an empty checkout",
    breaks: ({ real }) => {
      rmSync(real, { recursive: true });
      mkdirSync(real);
    },
    says: /source +failed for .*1 error, the last valid configuration is in force/,
  },
  {
    when: "a symlink to nothing",
    breaks: ({ point }) => point("nowhere"),
    says: /source +failed for .*1 error, the last valid configuration is in force/,
  },
  {
    when: "the mapping file emptied",
    breaks: ({ site }) => site.write({ "xdskit.yaml": "" }),
    says: /held +\d+: .*of the connected nodes|held +\d+: .*nodes/,
  },
  {
    when: "the size doubled",
    breaks: ({ site }) => site.write({ "twice.json": spare("twice", 800) }),
    says: /held +\d+: .*bytes/,
  },
  {
    when: "half of the clusters gone, on purpose in the end",
    breaks: ({ site }) => site.write({ "spare.json": [] }),
    says: /held +\d+: .*of \d+ Cluster resources would be gone/,
    ends: "approve",
  },
];

/** A cluster that every client accepts, whatever its transport. */
function plainCluster(name: string): object {
  return {
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name,
    type: "STATIC",
    connect_timeout: "1s",
  };
}

function spare(prefix: string, count: number): readonly object[] {
  return Array.from({ length: count }, (_, index) => plainCluster(`${prefix}-${index}-${"x".repeat(60)}`));
}

interface Scene {
  readonly site: Site;
  /** The directory of the files; the server is given a link to it. */
  readonly real: string;
  /** Lets the link lead to another directory, in one step. */
  readonly point: (to: string) => void;
}

describeWith("envoy", "what destroys the source reaches no client", () => {
  const clients = new Map<ClientRow, AnyClient>();
  let blue: Backend;
  let green: Backend;
  let scene: Scene;
  let server: XdsServer;
  const nothing = Object.fromEntries(rows.map(({ name }) => [name, {}]));

  const filesTo = (backend: Backend): Readonly<Record<string, FileContent>> => ({
    ...serviceFiles(rows, SERVICE_CLUSTER, backend.port),
    "spare.json": SPARE.map(plainCluster),
    "groups/edge/own.json": [plainCluster("own")],
    "xdskit.yaml": MAPPING,
  });
  const status = async (): Promise<ServerAnswer> => (await server.admin("/api/v1/server")) as ServerAnswer;
  const xds = async (...words: readonly string[]): Promise<string> => {
    const asked = await startProcess([...xdsCommand(), ...words, "--admin", `127.0.0.1:${server.adminPort}`]);
    await asked.closed;
    return asked.log();
  };
  const lost = async (): Promise<Record<string, object>> =>
    Object.fromEntries(
      await Promise.all([...clients].map(async ([{ name }, client]) => [name, await client.lost()] as const)),
    );
  const reach = async (backend: Backend, withinMs: number): Promise<number> =>
    Math.max(...(await Promise.all([...clients.values()].map((client) => client.reaches(backend, withinMs)))));
  const isSettled = async (): Promise<boolean> => {
    const { source, ledger } = await status();
    return source.state === "good" && ledger?.held === undefined;
  };
  /** Puts back whatever is missing. */
  const mend = async (files: Readonly<Record<string, FileContent | undefined>>): Promise<void> => {
    mkdirSync(scene.real, { recursive: true });
    scene.site.write(files);
    scene.point("files");
    await until({ says: "the source is good, and nothing is held", withinMs: 60_000 }, isSettled);
  };

  beforeAll(async () => {
    blue = stack.use(await startGrpcBackend("blue"));
    green = stack.use(await startGrpcBackend("green"));
    const home = mkdtempSync(join(tmpdir(), "xds-e2e-disasters-"));
    stack.use({ [Symbol.dispose]: () => rmSync(home, { recursive: true, force: true }) });
    const site = stack.use(createSite(filesTo(blue)));
    const link = join(home, "current");
    const point = (to: string): void => {
      const target = to === "files" ? site.directory : join(home, to);
      symlinkSync(target, `${link}.new`);
      renameSync(`${link}.new`, link);
    };
    point("files");
    stack.use({ [Symbol.dispose]: () => unlinkSync(link) });
    scene = { site, real: site.directory, point };
    const flags = ["--validation", "off", "--state-dir", join(home, "state")];
    server = stack.use(await startXdsServer({ site: { ...site, directory: link }, hasFuses: true, flags }));
    for (const row of rows) clients.set(row, await row.start(stack, server.port));
    await reach(blue, 60_000);
  }, 240_000);
  afterAll(() => stack[Symbol.asyncDispose](), 60_000);

  test.each(disasters)(
    "$when",
    async ({ breaks, says, ends }) => {
      await until({ says: "everybody has everything", withinMs: 60_000 }, async () => {
        return (await xds("wait", "--min-nodes", String(rows.length), "--timeout", "30s")).includes("is deployed");
      });
      const sent = await server.metric("xds_server_responses_total");
      breaks(scene);
      await until({ says: "it is seen", withinMs: 60_000 }, async () => says.test(await xds("status")));
      await watchFor(1_000);
      expect(await server.metric("xds_server_responses_total")).toBe(sent);
      if (ends === "approve") {
        await xds("approve", String((await status()).ledger?.held?.number));
        await until({ says: "nothing is held", withinMs: 60_000 }, isSettled);
        await watchFor(1_000);
      } else await mend({ ...filesTo(blue), "twice.json": undefined });
      expect(await lost()).toEqual(nothing);
    },
    240_000,
  );

  test("a rollback while a change is under way: all are back within a second of the command", async () => {
    await mend({ ...filesTo(blue), "xdskit.yaml": MAPPING });
    // A rollback does not take back live data, so what changes is what the routes lead to.
    const before = (await status()).ledger?.number;
    scene.site.write(serviceFiles(rows, "shop-1.e2e.svc.cluster.local:80", green.port));
    await until({ says: "the change is under way", withinMs: 30_000 }, async () => {
      return (await status()).ledger?.number !== before;
    });
    const beganAt = performance.now();
    await xds("rollback", String(before), "--message", "it was a mistake");
    const commandMs = performance.now() - beganAt;
    const reachedMs = await reach(blue, 30_000);
    note("E20 rollback of a change under way", "all", "ms", reachedMs);
    note("E20 the command itself", "xds", "ms", commandMs);
    expect(await lost()).toEqual(nothing);
    await mend(filesTo(blue));
  }, 240_000);

  test("kill -9, the files broken, a restart: all are served, and new ones too", async () => {
    scene.site.write({ "service.json": "- {" });
    await until(
      { says: "the files are broken", withinMs: 60_000 },
      async () => (await status()).source.state === "failed",
    );
    await server.kill();
    await server.start();
    await until({ says: "the files are known to be broken", withinMs: 60_000 }, async () => {
      return (await status()).source.state === "failed";
    });
    expect(await xds("status")).toMatch(/, ready\nsource +failed/);
    await until({ says: "all are back", withinMs: 60_000 }, async () => {
      const { total } = (await server.admin("/api/v1/nodes")) as { readonly total: number };
      return total === rows.length;
    });
    expect(await lost()).toEqual(nothing);
    // Of the same nodes: their Envoys listen beside the first ones.
    await using further = createStack();
    const fresh = rows.filter(({ name }) => /^envoy-(?:ads-delta|sotw)$|^grpc-(?:go|node)$/.test(name));
    const started = await Promise.all(fresh.map((row) => row.start(further, server.port)));
    await Promise.all(started.map((client) => client.reaches(blue, 60_000)));
  }, 240_000);
});
