import type { ClientDialect, TypeUrl, Variant } from "@xdskit/protocol";
import {
  type ClientEvent,
  ClientMachine,
  type ClientStreamId,
  clientDialect,
  opaqueTraits,
  type WatchEvent,
  type WatchId,
} from "@xdskit/protocol/internal";
import fc from "fast-check";
import { fits, Interest } from "../../src/client/interest.ts";
import { change, errorOf, received, sourceOf, whole } from "./client-story.ts";
import { node } from "./conversation.ts";
import { traits } from "./resources.ts";

const GLOB = "xdstp://x/envoy.config.cluster.v3.Cluster/d/*";
const MEMBERS = ["1", "2"].map((id) => GLOB.replace("*", id));
const name = fc.constantFrom("a", "b", "c", "*", GLOB, ...MEMBERS);
const label = fc.constantFrom("1", "2");

const resource = fc
  .record({
    name,
    label,
    aliases: fc.array(name, { maxLength: 2 }),
    version: fc.constantFrom("1", "2", ""),
    ttlMs: fc.constantFrom(undefined, undefined, 500, 0),
    isEmpty: fc.constantFrom(false, false, false, true),
    problem: fc.constantFrom(undefined, undefined, undefined, "bad"),
  })
  .map(({ name: of, label: text, isEmpty, problem, ...rest }) =>
    received(of, text, {
      ...rest,
      ...(isEmpty && { bytes: undefined }),
      ...(problem !== undefined && { problem }),
    }),
  );

const response = fc.record({
  kind: fc.constant("response" as const),
  resources: fc.array(resource, { maxLength: 4 }),
  removed: fc.array(name, { maxLength: 2 }),
  errors: fc.array(fc.tuple(name, fc.constantFrom(5, 7, 14)), { maxLength: 1 }),
  problems: fc.constantFrom([], [], [], [], ["wrong"]),
  version: label,
  nonce: fc.constantFrom("n", "m", ""),
});

/** What a server that knows no rule, and the watches of its client, may do. */
export const oddSteps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: response },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("watch" as const), term: name }) },
    fc.record({ kind: fc.constant("stop" as const), place: fc.nat(5) }),
    fc.record({ kind: fc.constant("pass" as const), ms: fc.constantFrom(100, 1_000, 16_000) }),
    fc.record({ kind: fc.constant("break" as const) }),
  ),
  { maxLength: 15 },
);

type Step =
  | (typeof response extends fc.Arbitrary<infer T> ? T : never)
  | { readonly kind: "watch"; readonly term: string }
  | { readonly kind: "stop"; readonly place: number }
  | { readonly kind: "pass"; readonly ms: number }
  | { readonly kind: "break" };

/** Dialects that differ in what a response does. */
export const oddDialects: fc.Arbitrary<Partial<ClientDialect>> = fc.record({
  nackPolicy: fc.constantFrom("all-or-nothing" as const, "apply-valid" as const),
  refuseDuplicates: fc.boolean(),
  ignoreDeletion: fc.boolean(),
  failOnDataErrors: fc.boolean(),
  timerIsTransient: fc.boolean(),
  wildcardSticky: fc.boolean(),
  explicitWildcard: fc.boolean(),
});

/** A client of such a server, and what each of its watches was told to be held. */
export class OddServer {
  readonly #type: TypeUrl;
  readonly #variant: Variant;
  readonly #machine = new ClientMachine({ traits: (type) => traits(type) ?? opaqueTraits(type), node: node("me") });
  readonly #told = new Map<WatchId, { readonly term: string; readonly held: Map<string, string> }>();
  readonly #timers = new Map<number, number>();
  readonly #opening: ClientStreamId[] = [];
  #stream: ClientStreamId | undefined;
  #nowMs = 0;
  #watches = 0;

  constructor(type: TypeUrl, variant: Variant, dialect: Partial<ClientDialect>) {
    this.#type = type;
    this.#variant = variant;
    this.#on({ kind: "source-added", source: sourceOf({ variant, dialect: clientDialect(dialect) }) });
  }

  step(step: Step): void {
    switch (step.kind) {
      case "watch": {
        const watch = ++this.#watches;
        this.#told.set(watch, { term: step.term, held: new Map() });
        this.#on({ kind: "watch-started", watch, source: "ads", type: this.#type, term: step.term });
        break;
      }
      case "stop": {
        const watch = [...this.#told.keys()][step.place];
        if (watch !== undefined) this.#stop(watch);
        break;
      }
      case "pass":
        this.#pass(step.ms);
        break;
      case "break":
        if (this.#stream !== undefined)
          this.#on({ kind: "stream-closed", stream: this.#stream, status: { code: 14, message: "gone" } });
        break;
      case "response": {
        if (this.#stream === undefined) break;
        const { version, nonce, removed, resources, problems } = step;
        const about = { resources, problems, errors: step.errors.map(([of, code]) => errorOf(of, code)) };
        const sent =
          this.#variant === "sotw"
            ? whole(this.#type, version, nonce, about)
            : change(this.#type, nonce, { ...about, removed });
        this.#on({ kind: "response-received", stream: this.#stream, response: sent });
      }
    }
  }

  stopAll(): void {
    for (const watch of [...this.#told.keys()]) this.#stop(watch);
  }

  /** What the client still has: names with a state, and timers. */
  get left(): readonly number[] {
    return [[...this.#machine.states()].length, this.#timers.size];
  }

  /** By watch, what it was told to be held. */
  get told(): readonly string[] {
    return [...this.#told].map(([watch, { term, held }]) => `${watch} ${term}: ${[...held.values()].sort().join()}`);
  }

  /** By watch, what is held for it. */
  get held(): readonly string[] {
    const resources = [...this.#machine.states()].flatMap(({ resource: one }) => one ?? []);
    return [...this.#told].map(([watch, { term: text }]) => {
      const { term } = new Interest().start(watch, text, false);
      const own = resources.filter((one) => fits(term, one.name, one.aliases)).map(contentOf);
      return `${watch} ${text}: ${own.sort().join()}`;
    });
  }

  #stop(watch: WatchId): void {
    this.#told.delete(watch);
    this.#on({ kind: "watch-stopped", watch });
  }

  #pass(ms: number): void {
    const untilMs = this.#nowMs + ms;
    for (;;) {
      const [next] = [...this.#timers].sort(([, a], [, b]) => a - b);
      if (next === undefined || next[1] > untilMs) break;
      this.#nowMs = next[1];
      this.#timers.delete(next[0]);
      this.#on({ kind: "timer-fired", timer: next[0] });
    }
    this.#nowMs = untilMs;
  }

  #on(event: ClientEvent): void {
    for (const effect of this.#machine.on(event, { nowMs: this.#nowMs, chance: 0.5 })) {
      if (effect.kind === "start-timer") this.#timers.set(effect.timer, this.#nowMs + effect.ms);
      else if (effect.kind === "cancel-timer") this.#timers.delete(effect.timer);
      else if (effect.kind === "open-stream") this.#opening.push(effect.stream);
      else if (effect.kind === "notify") this.#note(effect.watch, effect.news);
    }
    const opened = this.#opening.pop();
    if (opened === undefined) return;
    this.#stream = opened;
    this.#on({ kind: "stream-opened", stream: opened });
  }

  #note(watch: WatchId, news: WatchEvent): void {
    const held = this.#told.get(watch)?.held;
    if (held === undefined) throw new Error(`news for a watch that is over: ${JSON.stringify(news)}`);
    if (!("name" in news) || news.name === undefined) return;
    const resource = "resource" in news ? news.resource : news.held;
    if (resource === undefined) held.delete(news.name);
    else held.set(resource.name, contentOf(resource));
  }
}

function contentOf({ name: of, bytes }: { readonly name: string; readonly bytes: Uint8Array }): string {
  return `${of} is ${new TextDecoder().decode(bytes)}`;
}
