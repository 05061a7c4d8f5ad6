import type { Constraints, Parameters, Resource, TypeUrl, Variant } from "@xdskit/protocol";
import { type DeltaRequest, locatedTerm, matches, parseLocated } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Conversation, delta, node, sotw } from "../support/conversation.ts";
import { initialVersionsOf } from "../support/model-client.ts";
import { CLUSTER, LISTENER, ROUTE, resource } from "../support/resources.ts";
import { tries } from "../support/script.ts";

const env = (value: string): Constraints => ({ kind: "value", key: "env", value });
const exists: Constraints = { kind: "exists", key: "env" };
const inZone: Constraints = { kind: "value", key: "zone", value: "x" };
const not = (of: Constraints): Constraints => ({ kind: "not", of });
const both = (...of: Constraints[]): Constraints => ({ kind: "all", of });

/** Sets of which any part is disjoint and constrains the same keys; undefined: for everybody. */
const families: readonly (readonly (Constraints | undefined)[])[] = [
  [undefined],
  [env("p"), env("t"), not({ kind: "any", of: [env("p"), env("t")] })],
  [exists, not(exists)],
  [both(env("p"), inZone), both(env("p"), not(inZone)), both(not(env("p")), inZone)],
];

const at = (path: string): string => `xdstp://a/T/${path}`;
const names = ["a", "b", at("d/1"), at("d/2"), at("e/1")];
const asked = ["a", "b", at("d/1"), at("d/*"), "*"];
const parameterSets: readonly Parameters[] = [
  new Map(),
  new Map([["env", "p"]]),
  new Map([["env", "t"]]),
  new Map([
    ["zone", "x"],
    ["env", "p"],
  ]),
  new Map([["zone", "x"]]),
];
const terms = asked.flatMap((name) => parameterSets.map((parameters) => locatedTerm(name, parameters)));

/** What one layer has of one name: some of a family, each with a label. */
interface Held {
  readonly family: number;
  readonly labels: readonly (string | undefined)[];
}

const number = fc.nat(1_000);
const label = fc.constantFrom("1", "2", undefined);
const script = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        is: fc.constant("commit" as const),
        changes: fc.array(
          fc.record({
            name: number,
            layer: number,
            family: number,
            labels: fc.array(label, { minLength: 3, maxLength: 3 }),
          }),
          { minLength: 1, maxLength: 3 },
        ),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        is: fc.constant("ask" as const),
        add: fc.array(number, { maxLength: 3 }),
        drop: fc.array(number, { maxLength: 2 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ is: fc.constant("ack" as const) }) },
    { weight: 1, arbitrary: fc.record({ is: fc.constant("break" as const) }) },
    { weight: 1, arbitrary: fc.record({ is: fc.constant("move" as const) }) },
  ),
  { maxLength: 25 },
);

function plain({ variant, name }: Resource): string {
  return variant?.name ?? name;
}

function fits({ variant }: Resource, parameters: Parameters): boolean {
  return variant === undefined || matches(variant.constraints, parameters);
}

/** Whether a term may stand for a resource, said in another way than the code has it. */
function standsFor(term: string, one: Resource): boolean {
  const { name, parameters } = parseLocated(term) ?? { name: term, parameters: new Map() };
  const isIn = name === "*" || name === plain(one) || (name.endsWith("/*") && at("d/1 d/2").includes(tail(one)));
  return isIn && fits(one, parameters);
}

function tail(one: Resource): string {
  const name = plain(one);
  return name.startsWith(at("d/")) ? name.slice(at("").length) : "(not there)";
}

/** A client that keeps what it is told by name and constraints, and knows which of it it asked for. */
class Client {
  readonly held = new Map<string, Resource>();
  readonly terms = new Set<string>();
  readonly #talk: Conversation;
  readonly #type: TypeUrl;
  readonly #variant: Variant;
  readonly #pending: { readonly nonce: string; readonly version: string }[] = [];
  #stream: number;
  #version: string | undefined;
  #heard: string | undefined;
  #nonce: string | undefined;

  constructor(talk: Conversation, type: TypeUrl, variant: Variant, stream: number) {
    this.#talk = talk;
    this.#type = type;
    this.#variant = variant;
    this.#stream = stream;
    talk.open(stream, variant);
  }

  reopen(): void {
    this.#talk.machine.on({ kind: "stream-closed", stream: this.#stream });
    this.#stream += 1_000;
    this.#talk.open(this.#stream, this.#variant, undefined, this.#stream);
    this.#pending.length = 0;
    this.#nonce = undefined;
    this.#version = this.#heard;
    if (this.terms.size === 0) return;
    // A map has one version for each name.
    const initialVersions = initialVersionsOf([
      ...new Map([...this.held.values()].map((one) => [plain(one), one.version])),
    ]);
    this.#send({ subscribe: [...this.terms], initialVersions }, node("n"));
  }

  ask(add: readonly string[], drop: readonly string[]): void {
    const unsubscribe = drop.filter((term) => this.terms.has(term) && !add.includes(term));
    if (add.length + unsubscribe.length === 0) return;
    for (const term of add) this.terms.add(term);
    for (const term of unsubscribe) this.terms.delete(term);
    this.#dropUnasked();
    this.#send({ subscribe: add, unsubscribe }, node("n"));
  }

  ack(): void {
    const next = this.#pending.shift();
    if (next === undefined) return;
    this.#version = next.version;
    this.#nonce = next.nonce;
    if (this.#variant === "delta") this.#send({ nonce: next.nonce });
    else this.#send({});
  }

  settle(): void {
    this.hear();
    while (this.#pending.length > 0) this.ack();
  }

  hear(): void {
    for (const effect of this.#talk.machine.next(100)) {
      if (effect.kind === "send") listeners.get(effect.stream)?.(effect);
      else if (effect.kind === "start-timer") timers.push(effect.timer);
    }
  }

  listen(): void {
    listeners.set(this.#stream, ({ body, nonce }) => {
      this.#pending.push({ nonce, version: body.version });
      this.#heard = body.version;
      if (body.variant === "sotw" && this.#type !== ROUTE) this.held.clear();
      for (const { removed } of body.segments) for (const name of removed) this.#remove(name);
      for (const { puts } of body.segments) for (const put of puts) this.#take(put);
      this.#dropUnasked();
    });
  }

  /** Of one name and parameters there is one variant. */
  #take(put: Resource): void {
    const mine = [...this.terms].filter((term) => standsFor(term, put));
    for (const [key, one] of this.held) {
      if (plain(one) === plain(put) && mine.some((term) => standsFor(term, one))) this.held.delete(key);
    }
    this.held.set(put.name, put);
  }

  #remove(text: string): void {
    this.held.delete(text);
    if (parseLocated(text) === undefined) return;
    for (const [key, one] of this.held) if (standsFor(text, one)) this.held.delete(key);
  }

  #dropUnasked(): void {
    for (const [key, one] of this.held) {
      if (![...this.terms].some((term) => standsFor(term, one))) this.held.delete(key);
    }
  }

  #send(what: Partial<DeltaRequest>, sender = node("n")): void {
    this.listen();
    if (this.#variant === "delta") {
      this.#talk.receive(this.#stream, delta(this.#type, { hasLocators: true, node: sender, ...what }));
    } else {
      const about = { node: sender, versionInfo: this.#version, nonce: this.#nonce };
      this.#talk.receive(this.#stream, sotw(this.#type, { hasLocators: true, names: [...this.terms], ...about }));
    }
    this.hear();
  }
}

type Listener = (send: { readonly body: Sent["body"]; readonly nonce: string }) => void;
type Sent = Extract<ReturnType<Conversation["machine"]["next"]>[number], { kind: "send" }>;
let listeners = new Map<number, Listener>();
let timers: number[] = [];

/** A client that never heard of parameters, and asks for everything. */
function listenPlainly(talk: Conversation, type: TypeUrl, stream: number): ReadonlyMap<string, Resource> {
  const held = new Map<string, Resource>();
  talk.open(stream, "delta", undefined, stream);
  listeners.set(stream, ({ body, nonce }) => {
    for (const { puts, removed } of body.segments) {
      for (const name of removed) held.delete(name);
      for (const put of puts) held.set(put.name, put);
    }
    talk.receive(stream, delta(type, { nonce }));
  });
  talk.receive(stream, delta(type, { node: node("plain") }));
  return held;
}

test.each([
  ["delta", ROUTE, "delta"],
  ["delta, clusters", CLUSTER, "delta"],
  ["State of the World, full state", LISTENER, "sotw"],
  ["State of the World, by name", ROUTE, "sotw"],
] as const)("%s: a client is told exactly the variants that fit", (_, type, variant) => {
  const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
  fc.assert(
    fc.property(script, (steps) => {
      listeners = new Map();
      timers = [];
      let layersOf: readonly string[] = ["top", "base"];
      const talk = new Conversation({ nodeMapping: () => layersOf });
      const state: Record<"top" | "base", Map<string, readonly Resource[]>> = { top: new Map(), base: new Map() };
      const client = new Client(talk, type, variant, 1);
      const plainly = listenPlainly(talk, type, 500);
      for (const step of steps) {
        if (step.is === "ack") client.ack();
        else if (step.is === "break") client.reopen();
        else if (step.is === "ask") {
          const some = (list: readonly number[]): string[] => [...new Set(list.map((i) => pick(terms, i)))];
          client.ask(some(step.add), some(step.drop));
        } else if (step.is === "move") {
          layersOf = layersOf.length === 1 ? ["top", "base"] : ["base"];
          talk.machine.on({ kind: "transaction-committed", nodeMapping: () => layersOf });
        } else {
          const changes = step.changes.map(
            ({ name: i, layer: l, family, labels }: Held & { name: number; layer: number }) => {
              const name = pick(names, i);
              const layer = pick(["top", "base"] as const, l);
              const before = state[layer].get(name) ?? [];
              const puts = pick(families, family).flatMap((constraints, index) => {
                const text = labels[index];
                if (text === undefined) return [];
                return [resource(type, name, text, constraints === undefined ? {} : { constraints })];
              });
              state[layer].set(name, puts);
              const kept = new Set(puts.map((put) => put.name));
              const deletes = before.flatMap((one) => (kept.has(one.name) ? [] : [{ type, name: one.name }]));
              return { layer, puts, deletes };
            },
          );
          talk.commit(changes);
        }
        client.hear();
      }
      for (let i = 0; i < 5; i++) {
        client.settle();
        for (const timer of timers.splice(0)) talk.fire(timer);
      }
      client.settle();
      const visible = names.flatMap((name) => {
        for (const layer of layersOf) {
          const held = state[layer as "top" | "base"].get(name) ?? [];
          if (held.length > 0) return held;
        }
        return [];
      });
      const expected = visible.filter((one) => [...client.terms].some((term) => standsFor(term, one)));
      const versions = (list: Iterable<Resource>): Map<string, string> =>
        new Map([...list].map((one) => [one.name, one.version] as const).sort());
      if (type === ROUTE && variant === "sotw") {
        // What is gone cannot be said.
        const stillThere = [...client.held.values()].filter((one) => visible.some(({ name }) => name === one.name));
        expect(versions(stillThere)).toEqual(versions(expected));
      } else expect(versions(client.held.values())).toEqual(versions(expected));
      const forNobody = visible.filter((one) => fits(one, new Map()));
      expect(new Map([...plainly].map(([name, { version }]) => [name, version] as const).sort())).toEqual(
        new Map(forNobody.map((one) => [plain(one), one.version] as const).sort()),
      );
    }),
    tries,
  );
});
