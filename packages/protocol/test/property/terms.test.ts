import type { Resource, TypeUrl } from "@xdskit/protocol";
import { noInitialVersions } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Conversation, delta, node } from "../support/conversation.ts";
import { HOST, LB_ENDPOINT, ROUTE, resource } from "../support/resources.ts";
import { tries } from "../support/script.ts";

/** What may be asked for of a type, and what there may be: each name with aliases of its own. */
interface Vocabulary {
  readonly type: TypeUrl;
  readonly terms: readonly string[];
  readonly names: Readonly<Record<string, readonly string[]>>;
  /** What a term stands for, said in another way than the code has it. */
  readonly standsFor: (term: string, visible: readonly Resource[]) => readonly Resource[];
}

const hosts: Vocabulary = {
  type: HOST,
  terms: ["r/a.x", "r/b.x", "r/a.y", "r/c.c", "r/1", "q/a.x"],
  names: {
    "r/1": ["r/a.x", "r/*.y"],
    "r/2": ["r/*.x", "r/a.*"],
    "r/3": ["r/*", "r/*a.x"],
    "r/b.x": ["r/*.c"],
    "q/1": ["q/*.x", "q/*"],
  },
  standsFor(term, visible) {
    const [routes = "", host = ""] = term.split("/");
    const rank = ({ name, aliases }: Resource): number => {
      if (name === term) return 1_000;
      if (aliases.includes(term)) return 999;
      const ranks = [name, ...aliases].map((alias) => {
        const [table, domain = ""] = alias.split("/");
        if (table !== routes || !domain.includes("*")) return 0;
        if (domain === "*") return 1;
        const pattern = new RegExp(`^${domain.replaceAll(".", "\\.").replace("*", ".+")}$`);
        if (!pattern.test(host)) return 0;
        return domain.startsWith("*") ? 100 + domain.length : 10 + domain.length;
      });
      return Math.max(...ranks);
    };
    const best = [...visible].sort((a, b) => rank(b) - rank(a))[0];
    return best === undefined || rank(best) === 0 ? [] : [best];
  },
};

const at = (path: string): string => `xdstp://a/T/${path}`;
const collections: Vocabulary = {
  type: LB_ENDPOINT,
  terms: [at("d/*"), at("d/*?x=1"), at("d/e/*"), at("d/1"), at("d/2?x=1")],
  names: { [at("d/1")]: [], [at("d/2")]: [], [at("d/2?x=1")]: [], [at("d/e/1")]: [], [at("f/1")]: [at("d/1x")] },
  standsFor: (term, visible) =>
    visible.filter(({ name }) => {
      const [path = "", params] = name.split("?");
      const glob = `${path.slice(0, path.lastIndexOf("/"))}/*${params === undefined ? "" : `?${params}`}`;
      return name === term || glob === term;
    }),
};

const number = fc.nat(1_000);
const change = fc.record({
  name: number,
  label: fc.constantFrom("1", "2", "gone"),
  aliases: number,
  layer: number,
  onDemand: fc.boolean(),
});
const steps = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        is: fc.constant("commit" as const),
        changes: fc.array(change, { minLength: 1, maxLength: 4 }),
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
    { weight: 2, arbitrary: fc.record({ is: fc.constant("ack" as const) }) },
    { weight: 1, arbitrary: fc.record({ is: fc.constant("break" as const) }) },
  ),
  { maxLength: 25 },
);

/** A delta client that keeps what it is told, under its name and its aliases. */
class Client {
  readonly held = new Map<string, Resource>();
  readonly terms = new Set<string>();
  /** By term, what was sent for it last. */
  readonly #answers = new Map<string, string>();
  /** Asked for on this stream and not answered yet; what a client that comes back holds at the current version is not sent again. */
  readonly #fresh = new Set<string>();
  readonly #talk: Conversation;
  readonly #type: TypeUrl;
  readonly #isWildcard: boolean;
  readonly #pending: string[] = [];
  #stream = 0;

  constructor(talk: Conversation, type: TypeUrl, isWildcard: boolean) {
    this.#talk = talk;
    this.#type = type;
    this.#isWildcard = isWildcard;
    this.open();
  }

  open(): void {
    if (this.#stream > 0) this.#talk.machine.on({ kind: "stream-closed", stream: this.#stream });
    this.#talk.open(++this.#stream, "delta");
    this.#pending.length = 0;
    this.#fresh.clear();
    const pairs = [...this.held].map(([name, { version }]) => [name, version] as const);
    const initialVersions =
      pairs.length === 0
        ? noInitialVersions
        : { size: pairs.length, key: JSON.stringify(pairs), [Symbol.iterator]: () => pairs[Symbol.iterator]() };
    const subscribe = [...(this.#isWildcard ? ["*"] : []), ...this.terms];
    if (subscribe.length === 0) return;
    this.#send({ node: node("n"), subscribe, initialVersions });
  }

  ask(add: readonly string[], drop: readonly string[]): void {
    const unsubscribe = drop.filter((term) => this.terms.has(term) && !add.includes(term));
    if (add.length + unsubscribe.length === 0) return;
    for (const term of add) {
      this.terms.add(term);
      this.#fresh.add(term);
    }
    for (const term of unsubscribe) this.terms.delete(term);
    if (!this.#isWildcard) this.#dropUnasked(unsubscribe);
    this.#send({ node: node("n"), subscribe: add, unsubscribe });
  }

  ack(): void {
    const nonce = this.#pending.shift();
    if (nonce !== undefined) this.#send({ nonce });
  }

  settle(): void {
    this.hear();
    while (this.#pending.length > 0) this.ack();
  }

  /** Terms that something answers to, and that no response since they were asked for has named. */
  unanswered(existing: ReadonlySet<string>): readonly string[] {
    return [...this.#fresh].filter((term) => this.terms.has(term) && existing.has(term) && !term.includes("/*"));
  }

  #send(what: Parameters<typeof delta>[1]): void {
    this.#talk.receive(this.#stream, delta(this.#type, what));
    this.hear();
  }

  hear(): void {
    for (const effect of this.#talk.machine.next(10)) {
      if (effect.kind !== "send" || effect.stream !== this.#stream) continue;
      this.#pending.push(effect.nonce);
      for (const { puts, removed } of effect.body.segments) {
        for (const name of removed) {
          this.held.delete(name);
          if (!this.#isWildcard) this.#dropUnasked([name]);
          this.#answers.delete(name);
        }
        for (const put of puts) {
          this.held.set(put.name, put);
          const called = new Set([put.name, ...put.aliases]);
          for (const [term, name] of this.#answers) {
            if (name === put.name && !called.has(term)) this.#answers.delete(term);
          }
          for (const term of called) {
            this.#answers.set(term, put.name);
            this.#fresh.delete(term);
          }
        }
      }
    }
  }

  /** What was held for these alone is dropped by the client itself, which knows answers and directories. */
  #dropUnasked(terms: readonly string[]): void {
    const stay = new Set([...this.terms].flatMap((term) => (terms.includes(term) ? [] : this.#answers.get(term))));
    const go = new Set(terms.flatMap((term) => [term, this.#answers.get(term)]));
    for (const name of this.held.keys()) {
      const [path = "", params] = name.split("?");
      const glob = `${path.slice(0, path.lastIndexOf("/"))}/*${params === undefined ? "" : `?${params}`}`;
      if ((go.has(name) || go.has(glob)) && !stay.has(name) && !this.terms.has(glob)) this.held.delete(name);
    }
  }
}

test.each([
  ["virtual hosts by their domains", hosts, false],
  ["virtual hosts beside the base set", hosts, true],
  ["collections", collections, false],
  ["collections beside a wildcard", collections, true],
])("%s: a client ends up with exactly what its terms stand for", (_, vocabulary, isWildcard) => {
  const names = Object.keys(vocabulary.names);
  const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
  fc.assert(
    fc.property(steps, (script) => {
      const talk = new Conversation({ nodeMapping: () => ["top", "base"] });
      const layers = { top: new Map<string, Resource>(), base: new Map<string, Resource>() };
      // As long as there are their route configurations, the removal of virtual hosts does not wait.
      talk.put(resource(ROUTE, "q", "1"), resource(ROUTE, "r", "1"));
      const client = new Client(talk, vocabulary.type, isWildcard);
      for (const step of script) {
        if (step.is === "ack") client.ack();
        else if (step.is === "break") client.open();
        else if (step.is === "ask") {
          const terms = (list: readonly number[]): string[] => [...new Set(list.map((i) => pick(vocabulary.terms, i)))];
          client.ask(terms(step.add), terms(step.drop));
        } else {
          for (const { name: i, label, aliases, layer: l, onDemand } of step.changes) {
            const name = pick(names, i);
            const layer = pick(["top", "base"] as const, l);
            const own = (vocabulary.names[name] ?? []).filter((_, bit) => (aliases >> bit) & 1);
            if (label === "gone") {
              layers[layer].delete(name);
              talk.change({ layer, deletes: [{ type: vocabulary.type, name }] });
            } else {
              const put = resource(vocabulary.type, name, label, { aliases: own, onDemand });
              layers[layer].set(name, put);
              talk.change({ layer, puts: [put] });
            }
          }
          client.hear();
        }
      }
      client.settle();
      const visible = [...new Map([...layers.base, ...layers.top]).values()];
      const answers = [...client.terms].map((term) => [term, vocabulary.standsFor(term, visible)] as const);
      const expected = [
        ...(isWildcard ? visible.filter(({ onDemand }) => !onDemand) : []),
        ...answers.flatMap(([, found]) => found),
      ];
      expect(new Map([...client.held].map(([name, { version }]) => [name, version]))).toEqual(
        new Map(expected.map(({ name, version }) => [name, version])),
      );
      expect(client.unanswered(new Set(answers.flatMap(([term, found]) => (found.length > 0 ? [term] : []))))).toEqual(
        [],
      );
    }),
    tries,
  );
});
