import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Conversation, type Said } from "../support/conversation.ts";
import { Ledger } from "../support/ledger.ts";
import { CLUSTER, ENDPOINTS, LISTENER, resource } from "../support/resources.ts";
import { script, tries } from "../support/script.ts";
import { type Trouble, World } from "../support/world.ts";

const none: Trouble = { refusals: false, breaks: false, moves: false, trims: false };
const all: Trouble = { refusals: true, breaks: true, moves: true, trims: false };

const mixes: readonly (readonly [string, Trouble])[] = [
  ["nothing out of the ordinary", none],
  ["refusals", { ...none, refusals: true }],
  ["refusals, lost connections and nodes that move", all],
  ["all that and a stream for each type", { ...all, perType: true }],
  ["all that and resources on demand", { ...all, onDemand: true }],
  ["all that and aliases", { ...all, aliases: true }],
];

describe.each(mixes)("with %s", (_, trouble) => {
  test("nothing is said twice unless it is asked for or owed, and endpoints that are owed arrive", () => {
    fc.assert(
      fc.property(script, (steps) => {
        const ledger = new Ledger(trouble.perType === true);
        const world = new World(trouble, ledger);
        for (const step of steps) world.step(step);
        world.settle();
        expect(ledger.repetitions).toEqual([]);
        for (const client of world.clients) {
          const endpoints = world.expected(client, ENDPOINTS);
          const interest = client.types.get(ENDPOINTS);
          // Who asks by an alias is told of changes, but clusters refer to their endpoints by name.
          const isAsked = (name: string): boolean =>
            interest?.isWildcard === true || interest?.names.has(name) === true;
          const owed = [...ledger.owedTo(client)].filter((name) => endpoints.has(name) && isAsked(name));
          expect(owed).toEqual([]);
        }
      }),
      tries,
    );
  });
});

describe("a client that refuses everything", () => {
  const name = fc.constantFrom("a", "b", "c");
  const change = fc.record({
    type: fc.constantFrom(CLUSTER, LISTENER),
    name,
    label: fc.constantFrom("1", "2", "gone"),
    layer: fc.constantFrom("base", "top"),
  });
  const transactions = fc.array(fc.array(change, { minLength: 1, maxLength: 3 }), { maxLength: 12 });

  test.each([
    ["delta", 3],
    ["sotw", 1],
  ] as const)(
    "hears once of each change of content, and in delta of what it rejected with it (%s)",
    (variant, most) => {
      fc.assert(
        fc.property(transactions, (script) => {
          // With the order on, what may use a Cluster has to be accepted before it is told that the Cluster is gone.
          const dialect = { makeBeforeBreak: false };
          const talk = new Conversation({ nodeMapping: () => ["top", "base"], dialect });
          talk.put(resource(CLUSTER, "a", "0"), resource(LISTENER, "a", "0"));
          talk.open(1, variant);
          /** The versions of what each of the two types holds. */
          const content = (): readonly string[] =>
            [CLUSTER, LISTENER].map((type) =>
              [...talk.machine.resources(["top", "base"], type)]
                .map((one) => `${one.name} ${one.version}`)
                .sort()
                .join(),
            );
          const refuse = (first: readonly Said[]): number => {
            let count = 0;
            const heard = first.flatMap((said) => said.says.map((name) => `${said.type} ${name}`));
            expect(new Set(heard).size).toBe(heard.length);
            for (let [next, ...left] = first; next !== undefined; [next, ...left] = left) {
              left.push(...talk.nack(1, next.type, next.nonce));
              count++;
            }
            return count;
          };
          const first = [CLUSTER, LISTENER].flatMap((type) => talk.subscribe(1, type));
          expect(refuse(first)).toBe(2);
          for (const changes of script) {
            const before = content();
            talk.commit(
              changes.map(({ type, name, label, layer }) =>
                label === "gone"
                  ? { layer, deletes: [{ type, name }] }
                  : { layer, puts: [resource(type, name, label)] },
              ),
            );
            const changed = content().filter((now, i) => now !== before[i]).length;
            const responses = refuse(talk.turns());
            expect(responses).toBeGreaterThanOrEqual(changed);
            expect(responses).toBeLessThanOrEqual(changed * most);
          }
          expect(talk.turns()).toEqual([]);
        }),
        tries,
      );
    },
  );
});
