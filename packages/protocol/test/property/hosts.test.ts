import type { Resource, TypeUrl } from "@xdskit/protocol";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Conversation, delta, node } from "../support/conversation.ts";
import { CLUSTER, HOST, resource } from "../support/resources.ts";
import { tries } from "../support/script.ts";

const TERMS = ["r/a", "r/b", "r/c"];
/** Virtual hosts under names of their own, of which several may have one domain. */
const NAMES = ["r/1", "r/2", "r/3", "r/4"];

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      is: fc.constant("commit" as const),
      changes: fc.array(fc.record({ name: fc.nat(3), term: fc.nat(2), isGone: fc.boolean(), cluster: fc.nat(7) }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ is: fc.constant("ask" as const), term: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ is: fc.constantFrom("ack clusters" as const, "ack hosts" as const) }) },
);

/** A delta client on ADS, with Clusters and virtual hosts. */
class Client {
  readonly hosts = new Map<string, Resource>();
  /** Virtual hosts that came before the Clusters that they use. */
  readonly early: string[] = [];
  readonly #clusters = new Set<string>();
  readonly #unsettled = new Map<TypeUrl, string[]>([
    [CLUSTER, []],
    [HOST, []],
  ]);
  readonly #talk: Conversation;

  constructor(talk: Conversation) {
    this.#talk = talk;
    talk.open(1, "delta");
    this.#say(CLUSTER, { node: node("n", "envoy") });
    this.ack(CLUSTER);
  }

  ask(term: string): void {
    this.#say(HOST, { subscribe: [term] });
  }

  /** Returns whether there was something to settle. */
  ack(type: TypeUrl): boolean {
    const nonce = this.#unsettled.get(type)?.shift();
    if (nonce !== undefined) this.#say(type, { nonce });
    return nonce !== undefined;
  }

  settle(): void {
    this.hear();
    while (this.ack(CLUSTER) || this.ack(HOST));
  }

  hear(): void {
    for (const effect of this.#talk.machine.next(10)) {
      if (effect.kind !== "send") continue;
      const { type, segments } = effect.body;
      this.#unsettled.get(type)?.push(effect.nonce);
      for (const { puts, removed } of segments) {
        for (const name of removed) this.hosts.delete(name);
        for (const put of puts) {
          if (type === CLUSTER) this.#clusters.add(put.name);
          else this.hosts.set(put.name, put);
          if (put.references.some((one) => type === HOST && !this.#clusters.has(one.name))) this.early.push(put.name);
        }
      }
    }
  }

  #say(type: TypeUrl, what: Parameters<typeof delta>[1]): void {
    this.#talk.receive(1, delta(type, what));
    this.hear();
  }
}

const answering = (hosts: ReadonlyMap<string, Resource>, term: string): boolean =>
  [...hosts.values()].some(({ aliases }) => aliases.includes(term));

test("S-ORD-06 a domain that has had a virtual host all the time has one at the client, whichever, and with its Clusters", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (script) => {
      const talk = new Conversation({});
      const client = new Client(talk);
      const existing = new Map<string, Resource>();
      const terms = new Set<string>();
      /** Terms that were answered, and that something has answered to since. */
      const served = new Set<string>();
      const look = (): void => {
        for (const term of [...served].filter((one) => !answering(client.hosts, one)))
          expect(client.hosts, `${term} has no virtual host`).toBe(undefined);
        for (const term of terms) if (answering(client.hosts, term)) served.add(term);
        for (const term of [...served].filter((one) => !answering(existing, one))) served.delete(term);
      };
      for (const one of script) {
        if (one.is === "ask") {
          terms.add(TERMS[one.term] as string);
          client.ask(TERMS[one.term] as string);
        } else if (one.is === "commit") {
          const { puts, deletes } = commitOf(one.changes);
          for (const { name } of deletes) existing.delete(name);
          for (const put of puts) if (put.type === HOST) existing.set(put.name, put);
          for (const term of [...served].filter((term) => !answering(existing, term))) served.delete(term);
          talk.change({ puts, deletes });
          client.hear();
        } else client.ack(one.is === "ack hosts" ? HOST : CLUSTER);
        look();
      }
      client.settle();
      expect(client.early).toEqual([]);
      // Which one answers a domain that several have is not what this is about.
      for (const [name, { version }] of client.hosts)
        expect([name, existing.get(name)?.version]).toEqual([name, version]);
      const answered = [...terms].filter((term) => answering(existing, term));
      expect(answered.filter((term) => answering(client.hosts, term))).toEqual(answered);
    }),
    tries,
  );
});

type Change = { readonly name: number; readonly term: number; readonly isGone: boolean; readonly cluster: number };

function commitOf(changes: readonly Change[]): { puts: Resource[]; deletes: { type: TypeUrl; name: string }[] } {
  const byName = new Map(changes.map((change) => [NAMES[change.name] as string, change]));
  const puts: Resource[] = [];
  const deletes: { type: TypeUrl; name: string }[] = [];
  for (const [name, { term, isGone, cluster }] of byName) {
    if (isGone) deletes.push({ type: HOST, name });
    else {
      const references = [{ type: CLUSTER, name: `c${cluster}` }];
      puts.push(resource(CLUSTER, `c${cluster}`, "1", { references: [] }));
      puts.push(resource(HOST, name, `${cluster}`, { aliases: [TERMS[term] as string], onDemand: true, references }));
    }
  }
  return { puts, deletes };
}
