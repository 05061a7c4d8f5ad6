import type { Resource, TypeUrl } from "@xdskit/protocol";
import { type Body, noInitialVersions, type ServerEffect, ServerMachine } from "@xdskit/protocol/internal";
import { expect, test, vi } from "vitest";
import { View } from "../src/state/view.ts";
import { Conversation, delta, node, sotw } from "./support/conversation.ts";
import { held, MeshPlay, need, ROOT, SECRET } from "./support/mesh-play.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, ROUTE, resource, traits } from "./support/resources.ts";
import { Work } from "./support/work.ts";

const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };

/** A server machine with so many resources in `base`, and one in-sync delta stream for each view. */
function machineWith(resources: number, views: readonly (readonly string[])[]): ServerMachine {
  const machine = new ServerMachine({ digest, traits, nodeMapping: (one) => views[Number(one.id)] ?? [] });
  const puts = Array.from({ length: resources }, (_, i) => resource(CLUSTER, `c${i}`, "1"));
  machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts }] } });
  for (const i of views.keys()) {
    machine.on({
      kind: "stream-opened",
      stream: i,
      variant: "delta",
      onlyType: undefined,
      apiVersion: "v3",
      peer,
      connection: i,
    });
    const request = { ...delta(CLUSTER, { initialVersions: noInitialVersions }), node: node(String(i)) };
    machine.on({ kind: "request-received", stream: i, request });
  }
  for (const send of sendsOf(machine.next(views.length))) {
    machine.on({ kind: "request-received", stream: send.stream, request: delta(CLUSTER, { nonce: send.nonce }) });
  }
  machine.next(views.length);
  return machine;
}

function sendsOf(effects: readonly ServerEffect[]): readonly Extract<ServerEffect, { kind: "send" }>[] {
  return effects.flatMap((effect) => (effect.kind === "send" ? [effect] : []));
}

/** A resource that counts how often anybody looks at its version, or at something else of it. */
function watched(
  plain: Resource,
  count: { looks: number },
  what: "version" | "aliases" | "references" = "version",
): Resource {
  return Object.defineProperty({ ...plain }, what, {
    get: () => {
      count.looks++;
      return plain[what];
    },
  });
}

function change(machine: ServerMachine, layer: string, put: Resource): readonly Body[] {
  machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer, puts: [put] }] } });
  return sendsOf(machine.next(100_000)).map((send) => send.body);
}

test("a client that asks for two names looks at as much when 1,000 others change as when 100 do", () => {
  const looks = [100, 1_000].map((changed) => {
    const machine = machineWith(
      1_000,
      Array.from({ length: 4 }, () => ["base"]),
    );
    const hear = (stream: number, what: Parameters<typeof delta>[1]): readonly ServerEffect[] => [
      ...machine.on({ kind: "request-received", stream, request: delta(CLUSTER, what) }),
      ...machine.next(1),
    ];
    for (let stream = 0; stream < 4; stream++) {
      const names = { subscribe: [`c${stream}`, `c${stream + 10}`], unsubscribe: ["*"] };
      for (const { nonce } of sendsOf(hear(stream, names))) hear(stream, { nonce });
    }
    const count = { looks: 0 };
    const puts = Array.from({ length: changed }, (_, i) => watched(resource(CLUSTER, `c${i}`, "2"), count, "aliases"));
    machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts }] } });
    count.looks = 0;
    const sent = sendsOf(machine.next(4)).map(({ body }) =>
      body.segments.flatMap((one) => one.puts.map(({ name }) => name)),
    );
    expect(sent).toEqual([0, 1, 2, 3].map((stream) => [`c${stream}`, `c${stream + 10}`]));
    return count.looks;
  });
  expect(looks[1]).toBe(looks[0]);
});

test("which endpoints changed Clusters make resent is found once for 20 clients as for 2", () => {
  const looks = [2, 20].map((clients) => {
    const machine = machineWith(
      100,
      Array.from({ length: clients }, () => ["base"]),
    );
    const endpoints = Array.from({ length: 100 }, (_, i) => resource(ENDPOINTS, `c${i}`, "1"));
    machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts: endpoints }] } });
    const answer = (sends: ReturnType<typeof sendsOf>): readonly (readonly [number, TypeUrl])[] =>
      sends.map(({ stream, nonce, body }) => {
        machine.on({ kind: "request-received", stream, request: delta(body.type, { nonce }) });
        return [stream, body.type] as const;
      });
    for (let stream = 0; stream < clients; stream++) {
      const subscribe = [`c${stream}`, `c${stream + 20}`];
      machine.on({ kind: "request-received", stream, request: delta(ENDPOINTS, { subscribe }) });
    }
    answer(sendsOf(machine.next(clients)));
    const count = { looks: 0 };
    const puts = endpoints.map(({ name }) => watched(resource(CLUSTER, name, "2"), count, "references"));
    machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts }] } });
    count.looks = 0;
    const sent = answer(sendsOf(machine.next(clients)));
    expect(sent.filter(([, type]) => type === ENDPOINTS).length).toBe(clients);
    return count.looks;
  });
  expect(looks[0]).toBeGreaterThan(0);
  expect(looks[1]).toBe(looks[0]);
});

test("in State of the World a client looks up none of 100 Clusters that it still holds, nor of 10", () => {
  const lookups = [10, 100].map((deleted) => {
    const machine = new ServerMachine({ digest, traits, nodeMapping: () => ["base"] });
    const puts = Array.from({ length: 200 }, (_, i) => resource(CLUSTER, `c${i}`, "1"));
    machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts }] } });
    const opened = { variant: "sotw", onlyType: undefined, apiVersion: "v3", peer } as const;
    const hear = (stream: number, what: Parameters<typeof sotw>[1]): void =>
      void machine.on({
        kind: "request-received",
        stream,
        request: { ...sotw(CLUSTER, what), node: node(String(stream)) },
      });
    for (const stream of [0, 1]) {
      machine.on({ kind: "stream-opened", stream, connection: stream, ...opened });
      hear(stream, {});
    }
    for (const { stream, nonce, body } of sendsOf(machine.next(2))) hear(stream, { nonce, versionInfo: body.version });
    const deletes = puts.slice(0, deleted).map(({ type, name }) => ({ type, name }));
    machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", deletes }] } });
    machine.next(1);
    const holder = vi.spyOn(View.prototype, "holder");
    machine.next(1);
    const { length } = holder.mock.calls;
    holder.mockRestore();
    expect(machine.isDue).toBe(false);
    return length;
  });
  expect(lookups[1]).toBe(lookups[0]);
});

test.each(["a name", "a collection of names"])(
  "names given up under a wildcard look at what changed once, for 300 of them as for 3: each is %s",
  (kind) => {
    const looks = [3, 300].map((names) => {
      const machine = machineWith(100, [["base"]]);
      const given = Array.from({ length: names }, (_, i) => (kind === "a name" ? `x${i}` : `xdstp://a/T/${i}/*`));
      const hear = (what: Parameters<typeof delta>[1]): readonly ServerEffect[] => [
        ...machine.on({ kind: "request-received", stream: 0, request: delta(CLUSTER, what) }),
        ...machine.next(1),
      ];
      for (const { nonce } of sendsOf(hear({ subscribe: given }))) hear({ nonce });
      change(machine, "base", resource(CLUSTER, "in-flight", "1"));
      const count = { looks: 0 };
      const puts = Array.from({ length: 50 }, (_, i) => watched(resource(CLUSTER, `c${i}`, "2"), count, "aliases"));
      machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts }] } });
      machine.next(1);
      count.looks = 0;
      expect(sendsOf(hear({ unsubscribe: given })).map(({ body }) => body.segments[0]?.removed.length)).toEqual([
        names,
      ]);
      return count.looks;
    });
    expect(looks[0]).toBeGreaterThan(0);
    expect(looks[1]).toBe(looks[0]);
  },
);

test("whether a change is too large for one response is counted once, for 300 streams as for 3", () => {
  const looks = [3, 300].map((streams) => {
    const machine = machineWith(
      200,
      Array.from({ length: streams }, () => ["base"]),
    );
    let count = 0;
    const plain = resource(CLUSTER, "c1", "2");
    const put = Object.defineProperty({ ...plain }, "bytes", {
      get: () => {
        count++;
        return plain.bytes;
      },
    });
    expect(change(machine, "base", put).length).toBe(streams);
    return count;
  });
  expect(looks).toEqual([1, 1]);
});

test("streams in one view share one body; views that share a layer share the segment of its change", () => {
  const views = Array.from({ length: 1_000 }, (_, i) => [`node/${i % 500}`, "base"]);
  const machine = machineWith(100, views);
  for (let i = 0; i < 500; i++) change(machine, `node/${i}`, resource(CLUSTER, "own", String(i)));
  for (const state of machine.streams()) {
    for (const { nonce } of state.types[0]?.pending ?? []) {
      machine.on({ kind: "request-received", stream: state.stream, request: delta(CLUSTER, { nonce }) });
    }
  }
  machine.next(1_000);
  const bodies = change(machine, "base", resource(CLUSTER, "c1", "2"));
  expect(bodies.length).toBe(1_000);
  expect(new Set(bodies).size).toBe(500);
  expect(new Set(bodies.flatMap((body) => body.segments)).size).toBe(1);
});

test.each(["delta", "sotw"] as const)("views that hold the same of a type share one body: %s", (variant) => {
  const talk = new Conversation({ nodeMapping: ({ id }) => [`node/${id}`, "base"] });
  const ids = Array.from({ length: 100 }, (_, i) => i);
  talk.put(resource(CLUSTER, "a", "1"));
  talk.commit(ids.map((i) => ({ layer: `node/${i}`, puts: [resource(ENDPOINTS, "own", String(i))] })));
  const sent = new Set<Body>();
  const request = (i: number, nonce?: string): void => {
    const what = { node: node(String(i)), nonce };
    const { machine } = talk;
    machine.on({
      kind: "request-received",
      stream: i,
      request: variant === "sotw" ? sotw(CLUSTER, what) : delta(CLUSTER, what),
    });
  };
  const flush = (): void => {
    const sends = sendsOf(talk.machine.next(1_000));
    for (const { body } of sends) sent.add(body);
    for (const { stream, nonce } of sends) request(stream, nonce);
  };
  for (const i of ids) {
    talk.open(i, variant, undefined, i);
    request(i);
  }
  flush();
  expect(sent.size).toBe(1);
  talk.put(resource(CLUSTER, "a", "2"));
  flush();
  expect(sent.size).toBe(2);
});

test.each(["delta", "sotw"] as const)(
  "nodes that move at many revisions share the body of a type that did not change meanwhile: %s",
  (variant) => {
    const talk = new Conversation({ nodeMapping: () => ["group/old", "base"] });
    const { machine } = talk;
    const ids = Array.from({ length: 100 }, (_, i) => i);
    talk.put(...ids.map((i) => resource(CLUSTER, `c${i}`, "1")));
    talk.change({ layer: "group/old", puts: [resource(CLUSTER, "old", "1")] });
    talk.change({ layer: "group/new", puts: [resource(CLUSTER, "new", "1")] });
    const request = (i: number, type: TypeUrl, nonce?: string): void => {
      const what = { node: node(String(i)), nonce };
      const asked = variant === "sotw" ? sotw(type, what) : delta(type, what);
      machine.on({ kind: "request-received", stream: i, request: asked });
    };
    for (const i of ids) {
      talk.open(i, variant, undefined, i);
      for (const type of [CLUSTER, LISTENER]) request(i, type);
      for (const { body, nonce } of sendsOf(machine.next(10))) request(i, body.type, nonce);
      machine.next(10);
      machine.on({ kind: "stream-stalled", stream: i });
      talk.put(resource(LISTENER, "l", String(i)));
    }
    machine.on({ kind: "transaction-committed", nodeMapping: () => ["group/new", "base"] });
    for (const stream of ids) machine.on({ kind: "stream-drained", stream });
    const bodies = sendsOf(machine.next(1_000)).flatMap(({ body }) => (body.type === CLUSTER ? [body] : []));
    expect([bodies.length, new Set(bodies).size]).toEqual([100, 1]);
  },
);

test("a view encodes for itself only what one of its layers hides", () => {
  const machine = machineWith(3, [["node/0", "base"], ["base"]]);
  change(machine, "node/0", resource(CLUSTER, "c1", "mine"));
  for (const stream of [0]) {
    machine.on({ kind: "request-received", stream, request: delta(CLUSTER, { nonce: "2" }) });
  }
  const bodies = change(machine, "base", resource(CLUSTER, "c1", "2"));
  expect(bodies.map((body) => body.segments.flatMap((segment) => segment.puts.map((put) => put.name)))).toEqual([
    ["c1"],
  ]);
});

test("turns come in slices, and a stream that is stalled waits without a queue", () => {
  const machine = machineWith(
    10,
    Array.from({ length: 50 }, () => ["base"]),
  );
  machine.on({ kind: "stream-stalled", stream: 7 });
  machine.on({
    kind: "transaction-committed",
    transaction: { changes: [{ layer: "base", puts: [resource(CLUSTER, "c1", "2")] }] },
  });
  expect(sendsOf(machine.next(20)).length).toBe(20);
  expect(sendsOf(machine.next(1_000)).map((send) => send.stream)).not.toContain(7);
  expect(machine.isDue).toBe(false);
  for (const label of ["3", "4", "5"]) {
    machine.on({
      kind: "transaction-committed",
      transaction: { changes: [{ layer: "base", puts: [resource(CLUSTER, "c1", label)] }] },
    });
  }
  machine.on({ kind: "stream-drained", stream: 7 });
  const text = new TextDecoder();
  const said = sendsOf(machine.next(1_000)).filter((send) => send.stream === 7);
  expect(
    said.flatMap((send) => send.body.segments.flatMap((one) => one.puts.map((put) => text.decode(put.bytes)))),
  ).toEqual(["c1=5"]);
});

test("a Cluster that changes or goes costs a mesh as much among 1,000 that share a secret as among 10", () => {
  const work = [10, 1_000].map((clusters) => {
    const named = (i: number, version: string): ReturnType<typeof held> =>
      held(CLUSTER, `c${i}`, version, [need.secret("shared")]);
    const mesh = new MeshPlay().start(ROOT.clusters).gets(...Array.from({ length: clusters }, (_, i) => named(i, "1")));
    mesh.gets(held(SECRET, "shared", "1"));
    const added = vi.spyOn(Set.prototype, "add");
    mesh.gets(named(1, "2"), held(CLUSTER, "c2", "2")).loses(CLUSTER, "c3");
    const steps = added.mock.calls.length;
    added.mockRestore();
    return [mesh.terms, steps];
  });
  expect(work[1]).toEqual(work[0]);
});

test.each([
  ["sotw", 8, 18],
  ["delta", 8, 24],
] as const)("each name of a first request costs few steps: %s", (variant, toReceive, toAnswer) => {
  const names = Array.from({ length: 10_000 }, (_, i) => `endpoints/${i}`);
  const talk = new Conversation();
  talk.open(1, variant);
  const first = { node: node("many") };
  const request =
    variant === "sotw" ? sotw(ENDPOINTS, { ...first, names }) : delta(ENDPOINTS, { ...first, subscribe: names });
  const work = new Work();
  expect(work.of(() => talk.receive(1, request)) / names.length).toBeLessThan(toReceive);
  expect(work.of(() => talk.turns(1)) / names.length).toBeLessThan(toAnswer);
});

/** The steps of a flush with the routes of as many Listeners, which are in flight. */
function routesOfListenersInFlight(count: number): number {
  const talk = new Conversation();
  const listeners = Array.from({ length: count }, (_, i) =>
    resource(LISTENER, `l${i}`, "1", { references: [{ type: ROUTE, name: `r${i}` }] }),
  );
  const routes = listeners.map((_, i) => resource(ROUTE, `r${i}`, "1", { references: [{ type: CLUSTER, name: "c" }] }));
  talk.put(resource(CLUSTER, "c", "1", { references: [] }), resource(LISTENER, "l", "1"));
  talk.open(1, "delta");
  talk.hear(1, delta(CLUSTER, { node: node("n", "envoy") }));
  talk.hear(1, delta(CLUSTER, { nonce: "1" }));
  const [first] = talk.hear(1, delta(LISTENER, {}));
  talk.hear(1, delta(LISTENER, { nonce: first?.nonce }));
  talk.put(...listeners, ...routes);
  talk.turns();
  talk.receive(1, delta(ROUTE, { subscribe: routes.map(({ name }) => name) }));
  return new Work().of(() => expect(talk.turns().map(({ says }) => says.length)).toEqual([count]));
}

test("twice as many routes of twice as many Listeners in flight take at most twice the steps", () => {
  routesOfListenersInFlight(10);
  const [few, many] = [routesOfListenersInFlight(200), routesOfListenersInFlight(400)];
  expect(many).toBeLessThanOrEqual(2.1 * few);
});
