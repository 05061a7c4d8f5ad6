import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RevisionsAnswer, ServerAnswer } from "@xdskit/server";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { type AnyClient, type ClientRow, everyClient, serviceFiles } from "./support/every-client.ts";
import { startGrpcBackend } from "./support/grpc-backend.ts";
import type { Backend } from "./support/http-backend.ts";
import { note } from "./support/measure.ts";
import { describeWith, peerCommand } from "./support/peers.ts";
import { startProcess } from "./support/process.ts";
import { startXdsServer, type XdsServer, xdsCommand } from "./support/server.ts";
import { createSite, type FileContent, type Site } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { slowdown, until, watchFor } from "./support/wait.ts";

/** The Envoys in their four modes, and three gRPC clients. */
const WANTED = [
  ...["envoy-ads-delta", "envoy-ads-sotw", "envoy-delta", "envoy-sotw"],
  ...["grpc-go", "grpc-node", "grpc-python"],
];
const SERVICE_CLUSTER = "shop-0.e2e.svc.cluster.local:80";
/** How often a change under way is taken back, and within how long all are at the old content in the best case. */
const ROLLBACKS = 3;
const ROLLBACK_MS = 1_000;
const MAPPING = "groups:\n  - name: edge\n    match: { id: ['*'] }\n";
const SPARE = Array.from({ length: 40 }, (_, index) => `spare-${String(index).padStart(2, "0")}`);

const stack = createStack();
const wanted = (await everyClient(stack)).filter(({ name }) => WANTED.includes(name));
const rows = wanted.filter(({ peer }) => peerCommand(peer) !== undefined);
const mustTakePart = process.env["XDS_E2E_REQUIRE"] === "1" ? wanted : rows;

test("seven clients are meant, and take part as far as they are installed", () => {
  expect(wanted.map(({ name }) => name).sort()).toEqual(WANTED);
  expect(rows).toEqual(mustTakePart);
});
for (const { name, peer } of wanted.filter((row) => !rows.includes(row)))
  test.skip(`${name} (skipped: ${peer} is not installed)`, () => {});

/** What breaks the source, and what `xds status` says then. */
interface Disaster {
  readonly when: string;
  readonly breaks: (scene: Scene) => void;
  readonly says: RegExp;
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
    says: /source +failed for .*1 error, 42 warnings, the last valid configuration is in force/,
  },
  {
    when: "the mapping file without a rule",
    breaks: ({ site }) => site.write({ "xdskit.yaml": "{}\n" }),
    says: /held +\d+: .*of the connected nodes|held +\d+: .*nodes/,
  },
  {
    when: "most of the clusters gone",
    breaks: ({ site }) => site.write(MOST_GONE),
    says: /held +\d+: 30 of 41 Cluster resources would be gone from layer base/,
  },
  {
    when: "the size doubled",
    breaks: ({ site }) => site.write({ "spare.json": SPARE.map((name) => plainCluster(name, "n".repeat(1_000))) }),
    says: /held +\d+: the Cluster resources of layer base would go from \d+ to \d+ bytes/,
  },
];

/** A cluster that every client accepts, whatever its transport. */
function plainCluster(name: string, statName?: string): object {
  return {
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name,
    type: "STATIC",
    connect_timeout: "1s",
    ...(statName !== undefined && { alt_stat_name: statName }),
  };
}

const MOST_GONE = { "spare.json": SPARE.slice(30).map((name) => plainCluster(name)) };

interface Scene {
  readonly site: Site;
  /** The directory of the files; the server is given a link to it. */
  readonly real: string;
  /** Lets the link lead to another directory, in one step. */
  readonly point: (to: string) => void;
}

describeWith("envoy", "what destroys the source reaches no client", () => {
  const clients = new Map<ClientRow, AnyClient>();
  let running = createStack();
  let blue: Backend;
  let scene: Scene;
  let server: XdsServer;
  const nothing = Object.fromEntries(rows.map(({ name }) => [name, {}]));

  const filesTo = (backend: Backend, clusterName = SERVICE_CLUSTER): Readonly<Record<string, FileContent>> => ({
    ...serviceFiles(rows, clusterName, backend.port),
    "spare.json": SPARE.map((name) => plainCluster(name)),
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
  const startClients = async (): Promise<void> => {
    for (const row of rows) clients.set(row, await row.start(running, server.port));
    await reach(blue, 60_000);
  };
  const allHave = async (): Promise<unknown> =>
    until({ says: "everybody has everything", withinMs: 60_000 }, async () => {
      return (await xds("wait", "--revision", "head", "--min-nodes", String(rows.length), "--timeout", "30s")).includes(
        "is deployed",
      );
    });
  const statusSays = async (text: RegExp): Promise<unknown> =>
    until({ says: `xds status says ${text}`, withinMs: 30_000 }, async () => {
      expect(await xds("status")).toMatch(text);
      return true;
    });
  /** The number to go back to: live data is not rolled back. */
  const newestChange = async (): Promise<number> => {
    const kinds = ["revision", "approved", "rolled-back"].map((kind) => `kind=${kind}`).join("&");
    const { items } = (await server.admin(`/api/v1/revisions?limit=1&${kinds}`)) as RevisionsAnswer;
    return items[0]?.number ?? 0;
  };
  const post = async (path: string): Promise<unknown> =>
    (await fetch(`http://127.0.0.1:${server.adminPort}/api/v1/${path}`, { method: "POST" })).json();
  /** Resolves once the first response of a change is sent. */
  const changeUnderWay = async (files: Readonly<Record<string, FileContent>>): Promise<void> => {
    const responses = await server.metric("xds_server_responses_total");
    scene.site.write(files);
    await until({ says: "the change is on its way", withinMs: 30_000, everyMs: 1 }, async () => {
      if ((await server.metric("xds_server_responses_total")) > responses) return true;
      // It deletes what an earlier rollback brought back.
      const held = (await status()).ledger?.held?.number;
      if (held !== undefined) await post(`approve/${held}`);
      return false;
    });
  };
  /** Puts back whatever is missing. */
  const mend = async (): Promise<void> => {
    mkdirSync(scene.real, { recursive: true });
    scene.site.write(filesTo(blue));
    scene.point("files");
    await until({ says: "the source is good, and nothing is held", withinMs: 60_000 }, isSettled);
  };

  beforeAll(async () => {
    blue = stack.use(await startGrpcBackend("blue"));
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
    await startClients();
    await allHave();
  }, 240_000);
  afterAll(async () => {
    await running[Symbol.asyncDispose]();
    await stack[Symbol.asyncDispose]();
  }, 60_000);

  afterEach(async () => {
    await mend();
    await allHave();
    expect(await lost()).toEqual(nothing);
  }, 120_000);

  test.each(disasters)(
    "$when",
    async ({ breaks, says }) => {
      const sent = await server.metric("xds_server_responses_total");
      breaks(scene);
      await statusSays(says);
      await watchFor(1_000);
      expect(await server.metric("xds_server_responses_total")).toBe(sent);
      expect(await lost()).toEqual(nothing);
    },
    240_000,
  );

  test("most of the clusters are gone once a person approves it, and no request is lost", async () => {
    scene.site.write(MOST_GONE);
    await statusSays(/held +\d+: 30 of 41 Cluster resources/);
    expect(await xds("approve", "-m", "the old teams are gone")).toMatch(/^\d+ is in force: recorded as \d+/);
    await allHave();
    const { ledger } = await status();
    expect(ledger?.held).toBe(undefined);
    expect(await lost()).toEqual(nothing);
  }, 240_000);

  test("a rollback while the change is under way leaves all at the old content, and no request is lost", async () => {
    const green = stack.use(await startGrpcBackend("green"));
    const before = await newestChange();
    const times: number[] = [];
    for (let time = 1; time <= ROLLBACKS; time++) {
      await changeUnderWay(filesTo(green, `shop-${time}.e2e.svc.cluster.local:80`));
      const since = performance.now();
      // What `xds rollback` sends; the test below starts the command.
      expect(await post(`rollback/${before}`)).toMatchObject({ result: "applied" });
      await reach(blue, 30_000);
      times.push(Math.round(performance.now() - since));
      await allHave();
      expect(await lost()).toEqual(nothing);
    }
    note("rollback under way", `${rows.length} clients`, "all at the old content, ms", Math.min(...times));
    expect(Math.min(...times), `milliseconds until all were at the old content: ${times.join(", ")}`).toBeLessThan(
      slowdown() * ROLLBACK_MS,
    );
  }, 240_000);

  test("xds rollback takes back a change that is under way", async () => {
    const green = stack.use(await startGrpcBackend("green"));
    const before = await newestChange();
    await changeUnderWay(filesTo(green, `shop-${ROLLBACKS + 1}.e2e.svc.cluster.local:80`));
    const since = performance.now();
    expect(await xds("rollback", String(before), "-m", "errors")).toMatch(/^back at \d+: recorded as \d+/);
    await reach(blue, 30_000);
    const ms = Math.round(performance.now() - since);
    note("xds rollback under way, with its start", `${rows.length} clients`, "all at the old content, ms", ms);
    await allHave();
    expect(await lost()).toEqual(nothing);
  }, 240_000);

  test("kill -9 with broken files: connected clients lose nothing, and new ones are served", async () => {
    scene.site.write({ "spare.json": "- {" });
    await until({ says: "the files are broken", withinMs: 30_000 }, async () => {
      return (await status()).source.state === "failed";
    });
    await server.kill();
    await server.start();
    await allHave();
    expect(await lost()).toEqual(nothing);
    await running[Symbol.asyncDispose]();
    running = createStack();
    await startClients();
    expect((await status()).source.state).toBe("failed");
  }, 240_000);
});
