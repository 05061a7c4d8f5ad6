import type { LayerChange, NodeMapping, Variant } from "@xdskit/protocol";
import { type AccessPolicy, type ServerEffect, ServerMachine, type StreamId } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { delta, node, sotw } from "../support/conversation.ts";
import { CLUSTER, digest, resource, traits } from "../support/resources.ts";

const NODES: readonly string[] = ["n1", "n2", "x"];
const LAYERS: readonly string[] = ["node/n1", "group/one", "group/two", "base"];
const NAMES: readonly string[] = ["a", "b", "c"];
const peer = { address: "192.0.2.1:1", isLoopback: false, isTls: true, names: [] };
const groups = [
  { name: "one", match: { id: ["n*"] } },
  { name: "two", match: { id: ["*2", "x"] } },
];

/** The layers that the groups give each node. */
const GROUPS_OF: ReadonlyMap<string, readonly string[]> = new Map([
  ["n1", ["node/n1", "group/one"]],
  ["n2", ["group/one", "group/two"]],
  ["x", ["group/two"]],
]);

/** All that one commit can change. */
interface Published {
  /** The label of each name in each layer; 0: it is not there. */
  readonly contents: readonly (readonly number[])[];
  /** By groups, or the layers of each node as bits; 0 refuses it. */
  readonly mapping: "groups" | readonly number[];
  /** The nodes, layers and names that are allowed, as bits. */
  readonly access: { readonly nodes: number; readonly layers: number; readonly names: number };
}

/** All of so many bits as often as not. */
const bits = (count: number): fc.Arbitrary<number> => fc.oneof(fc.constant(2 ** count - 1), fc.nat(2 ** count - 1));
const contentsArbitrary = fc.array(fc.array(fc.nat(2), { minLength: 3, maxLength: 3 }), { minLength: 4, maxLength: 4 });
const mappingArbitrary = fc.oneof(fc.constant("groups" as const), fc.array(bits(4), { minLength: 3, maxLength: 3 }));
const accessArbitrary = fc.record({ nodes: bits(3), layers: bits(4), names: bits(3) });
const editArbitrary = fc.record({
  contents: fc.option(contentsArbitrary, { nil: undefined }),
  mapping: fc.option(mappingArbitrary, { nil: undefined }),
  access: fc.option(accessArbitrary, { nil: undefined }),
  /** How many flushes follow. */
  flushes: fc.nat(6),
});

function chosen<T>(from: readonly T[], mask: number): readonly T[] {
  return from.filter((_, index) => (mask & (1 << index)) !== 0);
}

function layersIn({ mapping, contents }: Published, id: string): readonly string[] | undefined {
  if (mapping !== "groups") {
    const layers = chosen(LAYERS, mapping[NODES.indexOf(id)] ?? 0);
    return layers.length === 0 ? undefined : layers;
  }
  const own = GROUPS_OF.get(id) ?? [];
  const holdsAny = (layer: string): boolean => contents[LAYERS.indexOf(layer)]?.some(Boolean) === true;
  return [...own.filter(holdsAny), "base"];
}

function mappingOf(state: Published): NodeMapping {
  return state.mapping === "groups" ? { groups } : ({ id }) => layersIn(state, id) ?? { refused: "no" };
}

/** Shows some names, and refuses nodes, and whoever the node mapping gives a layer that is not for it. */
function policyOf({ access: { nodes, layers, names } }: Published): AccessPolicy {
  const shown = chosen(NAMES, names);
  const grant = { key: shown.join(), isWhole: false, visible: () => (name: string) => shown.includes(name) };
  const isRefused = (id: string, given: readonly string[]): boolean =>
    !chosen(NODES, nodes).includes(id) || given.some((layer) => !chosen(LAYERS, layers).includes(layer));
  return { grant: ({ node: { id } }, given) => (isRefused(id, given) ? { denied: "no" } : grant) };
}

/** What a node has in a state; undefined: it is refused. */
function heldIn(state: Published, id: string): ReadonlyMap<string, string> | undefined {
  const layers = layersIn(state, id);
  if (layers === undefined || "denied" in policyOf(state).grant({ entryPoint: "ads", peer, node: node(id) }, layers))
    return undefined;
  const held = new Map<string, string>();
  for (const layer of [...layers].reverse()) {
    for (const [index, name] of NAMES.entries()) {
      const label = state.contents[LAYERS.indexOf(layer)]?.[index] ?? 0;
      if (label > 0 && chosen(NAMES, state.access.names).includes(name)) held.set(name, `${layer} ${label}`);
    }
  }
  return held;
}

function changesBetween(before: Published, after: Published): readonly LayerChange[] {
  return LAYERS.flatMap((layer, index) => {
    const [then, now] = [before.contents[index] ?? [], after.contents[index] ?? []];
    const changed = NAMES.flatMap((name, at) => (then[at] === now[at] ? [] : [{ name, label: now[at] ?? 0 }]));
    const puts = changed.flatMap(({ name, label }) =>
      label === 0 ? [] : [resource(CLUSTER, name, `${layer} ${label}`)],
    );
    const deletes = changed.flatMap(({ name, label }) => (label === 0 ? [{ type: CLUSTER, name }] : []));
    return changed.length === 0 ? [] : [{ layer, puts, deletes }];
  });
}

const nothing: Published = {
  contents: [[], [], [], []],
  mapping: "groups",
  access: { nodes: 7, layers: 15, names: 7 },
};

/** A client of one node that ACKs everything, and comes back when its stream ends. */
interface Client {
  readonly id: string;
  readonly variant: Variant;
  stream: StreamId | undefined;
  held: Map<string, string>;
}

class Fleet {
  readonly clients: readonly Client[] = NODES.flatMap((id) =>
    (["sotw", "delta"] as const).map((variant) => ({ id, variant, stream: undefined, held: new Map() })),
  );
  readonly #machine = new ServerMachine({
    ...{ digest, traits, dialect: { makeBeforeBreak: false } },
    ...{ nodeMapping: mappingOf(nothing), access: policyOf(nothing) },
  });
  #state = nothing;
  #lastStream = 0;

  /** Applies an edit, and looks whether the streams that it ended are those that the new state refuses. */
  publish(edit: Partial<Published>): void {
    const before = this.#state;
    const changes = changesBetween(before, { ...before, ...edit });
    this.#state = { ...before, ...edit };
    this.#perform(
      this.#machine.on({
        kind: "transaction-committed",
        ...(changes.length > 0 && { transaction: { changes } }),
        ...(edit.mapping !== undefined && { nodeMapping: mappingOf(this.#state) }),
        ...(edit.access !== undefined && { access: policyOf(this.#state) }),
      }),
    );
    for (const { id, stream } of this.clients) {
      if (heldIn(this.#state, id) === undefined) expect(stream).toBeUndefined();
      else if (heldIn(before, id) !== undefined) expect(stream).toBeDefined();
    }
  }

  connect(): void {
    for (const client of this.clients) {
      if (client.stream !== undefined) continue;
      const { id, variant } = client;
      const stream = ++this.#lastStream;
      client.stream = stream;
      client.held = new Map();
      const opened = { stream, variant, onlyType: undefined, apiVersion: "v3", peer, connection: stream } as const;
      this.#machine.on({ kind: "stream-opened", ...opened });
      const request = variant === "sotw" ? sotw(CLUSTER, { node: node(id) }) : delta(CLUSTER, {});
      this.#perform(this.#machine.on({ kind: "request-received", stream, request: { ...request, node: node(id) } }));
      expect(client.stream === undefined).toBe(heldIn(this.#state, id) === undefined);
    }
  }

  flush(budget: number): void {
    for (let left = budget; left > 0; left--) this.#perform(this.#machine.next(1));
  }

  get isDue(): boolean {
    return this.#machine.isDue;
  }

  /** What all clients have, and should have. */
  get holdings(): { readonly held: unknown; readonly wanted: unknown } {
    const connected = this.clients.filter(({ stream }) => stream !== undefined);
    return {
      held: connected.map(({ id, held }) => [id, new Map([...held].sort())]),
      wanted: connected.map(({ id }) => [id, new Map([...(heldIn(this.#state, id) ?? [])].sort())]),
    };
  }

  #perform(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind !== "send" && effect.kind !== "close-stream") continue;
      const client = this.clients.find(({ stream }) => stream === effect.stream);
      if (client === undefined) continue;
      if (effect.kind === "close-stream") client.stream = undefined;
      else this.#hear(client, effect);
    }
  }

  /** After every response a client has all of the newest state and nothing else. */
  #hear(client: Client, { stream, nonce, body }: Extract<ServerEffect, { kind: "send" }>): void {
    const { id, variant } = client;
    if (variant === "sotw") client.held.clear();
    for (const { puts, removed } of body.segments) {
      for (const name of removed) client.held.delete(name);
      for (const put of puts) client.held.set(put.name, new TextDecoder().decode(put.bytes).split("=")[1] ?? "");
    }
    expect([id, variant, client.held]).toEqual([id, variant, heldIn(this.#state, id)]);
    const request =
      variant === "sotw" ? sotw(CLUSTER, { nonce, versionInfo: body.version }) : delta(CLUSTER, { nonce });
    this.#perform(this.#machine.on({ kind: "request-received", stream, request }));
  }
}

test("no client sees anything but the whole of a commit of resources, node mapping and access", () => {
  fc.assert(
    fc.property(fc.array(editArbitrary, { minLength: 1, maxLength: 8 }), (edits) => {
      const fleet = new Fleet();
      fleet.connect();
      for (const { flushes, ...edit } of edits) {
        fleet.publish(JSON.parse(JSON.stringify(edit)) as Partial<Published>);
        fleet.connect();
        fleet.flush(flushes);
      }
      for (let left = 1000; fleet.isDue && left > 0; left--) fleet.flush(1);
      const { held, wanted } = fleet.holdings;
      expect(held).toEqual(wanted);
    }),
    { numRuns: 200 },
  );
});
