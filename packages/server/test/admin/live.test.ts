import { EventEmitter, once } from "node:events";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { LiveEvents } from "../../src/admin/answers/live.ts";
import { EventFeed, type FeedEvent } from "../../src/admin/live/event-feed.ts";
import { writeEvents } from "../../src/admin/live/event-stream.ts";
import { Samples } from "../../src/admin/live/samples.ts";
import { CDS, node, RealMachine, resource } from "./real-machine.ts";

let world: RealMachine;

beforeEach(() => {
  world = new RealMachine();
});

afterEach(async () => {
  await world.admin.close();
  world.metrics.close();
});

function connect(id: string): number {
  const stream = world.open();
  world.receive(stream, { kind: "delta", type: CDS, node: node(id) });
  return stream;
}

function dataOf<K extends keyof LiveEvents>(events: readonly FeedEvent[], name: K): LiveEvents[K] | undefined {
  const data = events.findLast((event) => event.name === name)?.data;
  return data === undefined ? undefined : (JSON.parse(data) as LiveEvents[K]);
}

describe("the feed", () => {
  test("tells everything at first, and then the parts that changed", () => {
    const feed = new EventFeed(world.view);
    const told: FeedEvent[][] = [];
    const end = feed.subscribe({ take: (events) => told.push([...events]) });
    expect(told.flat().map(({ name }) => name)).toEqual(["server", "source", "progress", "nodes"]);
    told.length = 0;
    feed.tick();
    expect(told).toEqual([]);
    world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
    const stream = connect("n");
    feed.tick();
    feed.tick();
    const events = told.flat();
    expect(dataOf(events, "progress")).toEqual({ head: 1, revision: 1, deployed: 0, pending: 1, nacked: 0 });
    expect(dataOf(events, "nodes")).toMatchObject({ total: 1, pending: 1, acked: 0, clusters: [{ name: "edge" }] });
    told.length = 0;
    world.receive(stream, { kind: "delta", nonce: "1" });
    feed.tick();
    expect(told.flat().map(({ name }) => name)).toEqual(["progress", "nodes"]);
    expect(dataOf(told.flat(), "progress")).toEqual({ head: 1, revision: 1, deployed: 1, pending: 0, nacked: 0 });
    expect(dataOf(told.flat(), "nodes")).toMatchObject({ total: 1, pending: 0, acked: 1 });
    end();
  });

  test("a reader that comes back is told what changed since", () => {
    const feed = new EventFeed(world.view);
    const stay = feed.subscribe({ take: () => undefined });
    const last = feed.current().at(-1)?.id;
    world.source = { state: "failed", problems: [], since: new Date(0) };
    feed.tick();
    const told: FeedEvent[] = [];
    feed.subscribe({ take: (events) => told.push(...events) }, last)();
    expect(told.map(({ name }) => name)).toEqual(["source"]);
    expect([feed.knows(last ?? ""), feed.knows("other.3"), feed.knows("")]).toEqual([true, false, false]);
    stay();
  });

  test("costs the same for 500 nodes as for none: clients are looked at once for each followed revision", () => {
    for (let index = 0; index < 500; index++) connect(`n${index}`);
    let walks = 0;
    let follows = 0;
    const { deployments } = world;
    const view = {
      ...world.view,
      streams: () => {
        walks++;
        return world.view.streams();
      },
      deployments: Object.assign(Object.create(deployments) as typeof deployments, {
        follow: (revision: number) => {
          follows++;
          return deployments.follow(revision);
        },
        unfollow: (follower: ReturnType<typeof deployments.follow>) => deployments.unfollow(follower),
      }),
    };
    const feed = new EventFeed(view);
    const end = feed.subscribe({ take: () => undefined });
    for (let index = 0; index < 20; index++) {
      world.commit([{ layer: "base", puts: [resource(CDS, "a", `${index}`)] }]);
      if (index % 4 === 0) feed.tick();
    }
    expect(walks).toBe(0);
    expect(follows).toBeLessThanOrEqual(1 + 5 / 2);
    end();
    expect(feed.readers).toBe(0);
  });

  test("while every tick has a change, few clients are looked at in each, however many there are", () => {
    const [nodes, ticks] = [3_000, 60];
    for (let index = 0; index < nodes; index++) connect(`n${index}`);
    let looks = 0;
    const { deployments } = world;
    const counted = Object.assign(Object.create(deployments) as typeof deployments, {
      follow: (revision: number) => {
        looks += nodes;
        return deployments.follow(revision);
      },
      unfollow: (follower: ReturnType<typeof deployments.follow>) => deployments.unfollow(follower),
    });
    const feed = new EventFeed({ ...world.view, deployments: counted });
    const end = feed.subscribe({ take: () => undefined });
    for (let index = 0; index < ticks; index++) {
      world.commit([{ layer: "elsewhere", puts: [resource(CDS, "a", `${index}`)] }]);
      feed.tick();
    }
    expect(looks / ticks).toBeLessThan(1_000);
    end();
  });

  test("while every tick has a change, the progress is a look at the one before, and no client tells of its ACKs; the last is followed", () => {
    connect("n");
    const followed = new Set<number>();
    const { deployments } = world;
    const counted = Object.assign(Object.create(deployments) as typeof deployments, {
      follow: (revision: number) => {
        followed.add(revision);
        return deployments.follow(revision);
      },
      unfollow: (follower: ReturnType<typeof deployments.follow>) => {
        followed.delete(follower.revision);
        deployments.unfollow(follower);
      },
    });
    const feed = new EventFeed({ ...world.view, deployments: counted });
    const end = feed.subscribe({ take: () => undefined });
    const tick = (): unknown => {
      feed.tick();
      const { head, revision } = JSON.parse(feed.current().find(({ name }) => name === "progress")?.data ?? "") as {
        readonly head: number;
        readonly revision: number;
      };
      return { behind: head - revision, followed: followed.size };
    };
    const change = (version: number): void =>
      void world.commit([{ layer: "elsewhere", puts: [resource(CDS, "a", `${version}`)] }]);
    change(0);
    tick();
    expect(tick()).toEqual({ behind: 0, followed: 1 });
    const churn = Array.from({ length: 8 }, (_, version) => {
      change(version + 1);
      return tick();
    });
    // A tick is waited for after each look.
    const [look, wait] = [1, 2].map((behind) => ({ behind, followed: 0 }));
    expect(churn.slice(3)).toEqual([look, wait, look, wait, look]);
    tick();
    expect(tick()).toEqual({ behind: 0, followed: 1 });
    end();
  });
});

describe("/api/v1/events", () => {
  async function open(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
    const port = (await world.admin.start())?.port;
    const request = httpRequest({ host: "127.0.0.1", port, path, headers, agent: false });
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.setEncoding("utf8");
    return response;
  }

  /** Reads until the text contains what is looked for. */
  async function readTo(response: IncomingMessage, wanted: string): Promise<string> {
    let text = "";
    for await (const chunk of response) {
      text += chunk as string;
      if (text.includes(wanted)) break;
    }
    return text;
  }

  test("are server-sent events", async () => {
    const response = await open("/api/v1/events");
    expect(response.headers).toMatchObject({ "content-type": "text/event-stream; charset=utf-8" });
    const text = await readTo(response, "event: nodes");
    expect(text).toMatch(/^retry: 2000\n\nid: [\w-]+\.1\nevent: server\ndata: \{"version":"0\.1\.0"/);
  });

  test("a cursor of another run is told to reload", async () => {
    const response = await open("/api/v1/events", { "last-event-id": "elsewhere.7" });
    expect(await readTo(response, "event: nodes")).toMatch(/^retry: 2000\n\nevent: reload\ndata: \{\}\n\nid: /);
  });
});

/** A response whose reader stops and goes on as the test says. */
class Reader extends EventEmitter {
  writableNeedDrain = false;
  readonly written: string[] = [];
  isDestroyed = false;
  writeHead(): this {
    return this;
  }
  write(text: string): boolean {
    this.written.push(text);
    return !this.writableNeedDrain;
  }
  destroy(): void {
    this.isDestroyed = true;
    this.emit("close");
  }
}

function follow(feed: EventFeed, mayRead = () => true): Reader {
  const reader = new Reader();
  writeEvents(feed, reader as unknown as ServerResponse, { lastId: undefined, mayRead });
  return reader;
}

describe("a reader that does not read", () => {
  const namesIn = (texts: readonly string[]): readonly string[] =>
    [...texts.join("").matchAll(/^event: (.*)$/gm)].flatMap(([, name]) => name ?? []);

  test("is owed nothing: once it reads, it is told to reload, and how things are then", () => {
    const feed = new EventFeed(world.view);
    const reader = follow(feed);
    reader.writableNeedDrain = true;
    reader.written.length = 0;
    for (let index = 0; index < 100; index++) {
      world.commit([{ layer: "base", puts: [resource(CDS, "a", `${index}`)] }]);
      feed.tick();
    }
    expect(reader.written).toEqual([]);
    reader.writableNeedDrain = false;
    reader.emit("drain");
    expect(namesIn(reader.written)).toEqual(["reload", "server", "source", "nodes", "progress"]);
    expect(reader.written.join("")).toContain('"head":100');
    reader.written.length = 0;
    reader.emit("drain");
    expect(reader.written).toEqual([]);
    reader.emit("close");
    expect(feed.readers).toBe(0);
  });

  test("is disconnected after a minute, and one that reads is not", () => {
    vi.useFakeTimers();
    try {
      const feed = new EventFeed(world.view);
      const [stuck, reads] = [follow(feed), follow(feed)];
      stuck.writableNeedDrain = true;
      vi.advanceTimersByTime(45_000);
      expect([stuck.isDestroyed, feed.readers]).toEqual([false, 2]);
      vi.advanceTimersByTime(15_000);
      expect([stuck.isDestroyed, reads.isDestroyed, feed.readers]).toEqual([true, false, 1]);
      expect(reads.written.filter((text) => text.startsWith(":"))).toHaveLength(4);
      reads.emit("close");
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

test("a reader whom access rules no longer let in is disconnected, and hears nothing more", () => {
  const feed = new EventFeed(world.view);
  let isAllowed = true;
  const reader = follow(feed, () => isAllowed);
  const heard = reader.written.length;
  isAllowed = false;
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  feed.tick();
  expect([reader.isDestroyed, reader.written.length - heard, feed.readers]).toEqual([true, 0, 0]);
});

test("/api/v1/samples has the last hour, and how long revisions took to their last ACK", async () => {
  const samples = new Samples(world.view, world.deliveries);
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  const [slow, quick] = [connect("slow"), connect("quick")];
  for (const stream of [slow, quick]) world.receive(stream, { kind: "delta", nonce: "1" });
  world.commit([{ layer: "base", puts: [resource(CDS, "a", "changed")] }]);
  const nonceOf = (stream: number): string | undefined => world.sent.findLast((one) => one.stream === stream)?.nonce;
  world.now += 20;
  world.receive(quick, { kind: "delta", nonce: nonceOf(quick) });
  world.now += 400;
  world.receive(slow, { kind: "delta", nonce: nonceOf(slow) });
  for (let index = 0; index < 400; index++) samples.take(new Date(world.now + index * 10_000));
  const { items, ...rest } = samples.answer();
  expect(rest).toEqual({
    intervalSeconds: 10,
    revisions: [{ revision: 2, at: new Date(world.now - 420).toISOString(), acks: 2, lastAckMs: 420 }],
  });
  expect([items.length, items.at(-1)?.at]).toEqual([360, new Date(world.now + 3_990_000).toISOString()]);
  expect(items.at(-1)).toMatchObject({ streams: 2, lagMs: 0, nodes: { total: 2, acked: 2, pending: 0 } });
});

test("samples and metrics are read also without a free file descriptor", async () => {
  const fail = (): never => {
    throw new Error("EMFILE: too many open files, uv_resident_set_memory");
  };
  const memory = vi.spyOn(process, "memoryUsage").mockImplementation(Object.assign(fail, { rss: fail }));
  try {
    const samples = new Samples(world.view, world.deliveries);
    samples.take(new Date(world.now));
    expect(samples.answer().items).toMatchObject([{ residentBytes: expect.any(Number) }]);
    const metrics = await world.metrics.read();
    expect(metrics.map(({ name }) => name)).toContain("process_resident_memory_bytes");
  } finally {
    memory.mockRestore();
  }
});

test("/api/v1/nodes filters by state, layer and revision", async () => {
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  const [acks, nacks] = [connect("acks"), connect("nacks")];
  connect("waits");
  world.receive(acks, { kind: "delta", nonce: "1" });
  world.receive(nacks, { kind: "delta", nonce: "1", error: { code: 3, message: "no" } });
  const port = (await world.admin.start())?.port;
  const ask = async (query: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/nodes?${query}`);
    const { items, total } = (await response.json()) as { items: { id: string }[]; total: number };
    return [items.map(({ id }) => id), total];
  };
  expect(await ask("state=nacked")).toEqual([["nacks"], 1]);
  expect(await ask("state=pending")).toEqual([["waits"], 1]);
  expect(await ask("state=acked&user-agent=envoy*")).toEqual([["acks"], 1]);
  expect(await ask("has=head")).toEqual([["acks"], 1]);
  expect(await ask("lacks=1")).toEqual([["nacks", "waits"], 2]);
  expect(await ask("layer=node/acks")).toEqual([["acks"], 1]);
  expect(await ask("limit=1&offset=1")).toEqual([["nacks"], 3]);
});
