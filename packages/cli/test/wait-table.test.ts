import { cp, rm } from "node:fs/promises";
import { Cluster, createXdsClient, validator, type XdsClient } from "@xdskit/client";
import { afterEach, expect, test } from "vitest";
import { RawPeer } from "../../server/test/support/raw-peer.ts";
import { ADS_SOTW, CLUSTER, sotwRequest } from "../../server/test/support/test-server.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { clusters, Serving, Site, until } from "./serving.ts";

/** What a script gets: the exit code, and a part of what is said. */
interface Answer {
  readonly code: number;
  readonly says: string;
}

/** Everything that a row may do. */
class Scene {
  readonly #cleanups: (() => Promise<unknown>)[] = [];
  readonly site: Site;
  readonly #state: Site;
  #serving: Serving;

  private constructor(site: Site, state: Site, serving: Serving) {
    this.site = site;
    this.#state = state;
    this.#serving = serving;
  }

  static async start(files: Readonly<Record<string, string>>): Promise<Scene> {
    const site = await Site.make(files);
    const state = await Site.make();
    return new Scene(site, state, await serve(site, state));
  }

  get serving(): Serving {
    return this.#serving;
  }

  /** Ends the server and starts it again at the same address. */
  async restart(): Promise<void> {
    const { address } = this.#serving;
    await this.#serving.stop();
    this.#serving = await serve(this.site, this.#state, "--listen", address);
  }

  /** A client that subscribes to all clusters; it rejects those with this timeout. */
  async connect(node: string, rejects?: string): Promise<XdsClient> {
    const isFine = validator(Cluster, ({ json }) => (json.connectTimeout === rejects ? "it is too long" : undefined));
    const client = await createXdsClient({
      ...{ server: this.serving.address, node },
      ...(rejects !== undefined && { validation: { validators: [isFine] } }),
    });
    this.#cleanups.push(() => client.close());
    const watch = client.watch(Cluster, "*", { onChange: () => undefined });
    await until(`${node} has clusters`, () => watch.current.size > 0);
    return client;
  }

  /** A client that never answers; ends it. */
  async connectSilent(): Promise<() => Promise<void>> {
    const [host = "", port] = this.serving.address.split(":");
    const peer = await RawPeer.connect({ host, port: Number(port) });
    this.#cleanups.push(() => peer.close());
    const call = peer.open(ADS_SOTW);
    call.send(sotwRequest(CLUSTER));
    await until("it is asked for", async () => (await this.serving.ask("/api/v1/nodes"))["total"] === 1);
    return () => peer.close();
  }

  async wait(...flags: readonly string[]): Promise<Answer> {
    const { code, stdout, stderr } = await this.serving.xds("wait", "--timeout", "20s", ...flags);
    return { code, says: stdout + stderr };
  }

  async close(): Promise<void> {
    for (const cleanup of this.#cleanups.reverse()) await cleanup();
    await this.#serving.stop();
    await Promise.all([this.site.remove(), this.#state.remove()]);
  }
}

async function serve(site: Site, state: Site, ...flags: readonly string[]): Promise<Serving> {
  const serving = await Serving.start(site, ["--state-dir", state.directory, ...flags]);
  await until("it is ready", () => serving.isReady());
  return serving;
}

let opened: Scene | undefined;
afterEach(async () => {
  await opened?.close();
  opened = undefined;
});

const many = clusters(...Array.from({ length: 30 }, (_, index) => `c${index}`));
const timeouts = (time: string): string => `${clusters("one")}  connect_timeout: ${time}\n`;
const now = ["--timeout", "0s"];

/** Each situation: what happens, what a script is told, what is done about it, and what it is told then. */
const rows: readonly {
  readonly when: string;
  readonly files?: string;
  readonly first: (scene: Scene) => Promise<Answer>;
  readonly is: Answer;
  readonly afterwards: (scene: Scene) => Promise<Answer>;
  readonly becomes: Answer;
}[] = [
  {
    when: "the files are broken, then mended",
    first: async (scene) => {
      await scene.connect("edge-1");
      await scene.site.write("a.yaml", "- [");
      return scene.wait();
    },
    is: { code: 3, says: "the source has 1 error" },
    afterwards: async (scene) => {
      await scene.site.write("a.yaml", clusters("one", "two"));
      return scene.wait();
    },
    becomes: { code: 0, says: "revision 2 is deployed: 1 of 1 node has it" },
  },
  {
    when: "the directory is gone, then back",
    first: async (scene) => {
      await scene.connect("edge-1");
      await rm(scene.site.directory, { recursive: true });
      return scene.wait();
    },
    is: { code: 3, says: "the source has 1 error" },
    afterwards: async (scene) => {
      const again = await Site.make({ "a.yaml": clusters("one", "two") });
      await cp(again.directory, scene.site.directory, { recursive: true });
      await again.remove();
      return scene.wait();
    },
    becomes: { code: 0, says: "revision 2 is deployed: 1 of 1 node has it" },
  },
  {
    when: "nobody is connected, then a node is",
    first: (scene) => scene.wait(...now),
    is: { code: 5, says: "revision 1: no node is connected: 0 of 0 nodes have it" },
    afterwards: async (scene) => {
      await scene.connect("edge-1");
      return scene.wait();
    },
    becomes: { code: 0, says: "revision 1 is deployed: 1 of 1 node has it" },
  },
  {
    when: "too few nodes are connected, then enough",
    first: async (scene) => {
      await scene.connect("edge-1");
      return scene.wait("--min-nodes", "2", ...now);
    },
    is: { code: 5, says: "revision 1: only 1 of the required 2 nodes is connected: 1 of 1 node has it" },
    afterwards: async (scene) => {
      await scene.connect("edge-2");
      return scene.wait("--min-nodes", "2");
    },
    becomes: { code: 0, says: "revision 1 is deployed: 2 of 2 nodes have it" },
  },
  {
    when: "a client does not answer, in the instant after a save, then leaves",
    first: async (scene) => {
      const leave = await scene.connectSilent();
      await scene.site.write("a.yaml", clusters("one", "two"));
      const answer = await scene.wait(...now);
      await leave();
      await until("it is gone", async () => (await scene.serving.ask("/api/v1/nodes"))["total"] === 0);
      return answer;
    },
    is: { code: 4, says: "revision 2 is not deployed yet: 0 of 1 node has it, 1 pending" },
    afterwards: async (scene) => {
      await scene.connect("edge-1");
      return scene.wait();
    },
    becomes: { code: 0, says: "revision 2 is deployed: 1 of 1 node has it, 1 left without it" },
  },
  {
    when: "a client rejects the change, then it is taken back",
    files: timeouts("1s"),
    first: async (scene) => {
      await scene.connect("edge-1", "9s");
      await scene.site.write("a.yaml", `# a comment\n${timeouts("9s")}`);
      return scene.wait();
    },
    is: {
      code: 1,
      says: "it is too long; in it: one; from a.yaml:3\nrevision 2 was NACKed: 0 of 1 node has it, 1 NACKed",
    },
    afterwards: async (scene) => {
      await scene.site.write("a.yaml", timeouts("2s"));
      return scene.wait();
    },
    becomes: { code: 0, says: "revision 3 is deployed: 1 of 1 node has it" },
  },
  {
    when: "a fuse holds the change, then it is approved",
    files: many,
    first: async (scene) => {
      await scene.connect("edge-1");
      await scene.site.write("a.yaml", clusters("c0"));
      return scene.wait();
    },
    is: { code: 3, says: "the change 2 of the source is held: 29 of 30 Cluster resources would be gone" },
    afterwards: async (scene) => {
      await scene.serving.xds("approve", "2");
      return scene.wait();
    },
    becomes: { code: 0, says: "revision 3 is deployed: 1 of 1 node has it" },
  },
  {
    when: "the server starts again, and the node comes back with what it has",
    first: async (scene) => {
      await scene.connect("edge-1");
      return scene.wait();
    },
    is: { code: 0, says: "revision 1 is deployed: 1 of 1 node has it" },
    afterwards: async (scene) => {
      await scene.restart();
      return scene.wait();
    },
    becomes: { code: 0, says: "revision 1 is deployed: 1 of 1 node has it" },
  },
  {
    when: "only a poll of our own asks, which is no node",
    first: async (scene) => {
      expect((await scene.serving.xds("get", "cds", "one")).code).toBe(0);
      return scene.wait(...now);
    },
    is: { code: 5, says: "0 of 0 nodes have it" },
    afterwards: async (scene) => {
      await scene.connect("edge-1");
      await scene.serving.xds("get", "cds", "one");
      await scene.site.write("a.yaml", clusters("one", "two"));
      return scene.wait();
    },
    becomes: { code: 0, says: "revision 2 is deployed: 1 of 1 node has it" },
  },
];

test.each(rows)(
  "xds wait: $when",
  async ({ files = clusters("one"), first, is, afterwards, becomes }) => {
    const scene = await Scene.start({ "a.yaml": files });
    opened = scene;
    for (const [asked, expected] of [
      [first, is],
      [afterwards, becomes],
    ] as const) {
      const { code, says } = await asked(scene);
      expect({ code, says }).toEqual({ code: expected.code, says: expect.stringContaining(expected.says) });
    }
  },
  60_000,
);

test("xds wait: nothing listens", async () => {
  const io = new CapturedIo({ env: { XDS_ADMIN_SERVER: "127.0.0.1:1" } });
  expect(await run(["wait"], io)).toBe(69);
});
