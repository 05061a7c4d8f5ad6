import type { Resource, Variant } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { Conversation, delta, node, type Said, sotw } from "./support/conversation.ts";
import { CLUSTER, HOST, LISTENER, ROUTE, resource } from "./support/resources.ts";

const plain = (name: string): Resource => resource(CLUSTER, name, "1", { references: [] });
const using = (type: typeof ROUTE, name: string, label: string, ...clusters: readonly string[]): Resource =>
  resource(type, name, label, { references: clusters.map((each) => ({ type: CLUSTER, name: each })) });
const says = (said: readonly Said[]): readonly string[] => said.map((one) => one.says.join());
const variants = ["sotw", "delta"] as const;

/** A client of Clusters and of one user of them, in the words of its variant. */
class Client {
  readonly talk = new Conversation({ dialect: { orderLimitMs: 10_000 } });
  readonly #variant: Variant;
  readonly #names = new Map<string, readonly string[]>();
  readonly #newest = new Map<string, Said>();

  constructor(variant: Variant, ...puts: readonly Resource[]) {
    this.#variant = variant;
    this.talk.put(...puts);
    this.talk.open(1, variant);
  }

  ask(type: typeof ROUTE, ...names: readonly string[]): readonly string[] {
    this.#names.set(type, names);
    const who = { node: node("n") };
    const first = this.#variant === "delta" ? delta(type, { ...who, subscribe: names }) : sotw(type, { ...who, names });
    return this.#hear(this.talk.hear(1, first));
  }

  accept(type: typeof ROUTE, error?: { code: number; message: string }): readonly string[] {
    const { nonce, version: versionInfo } = this.#newest.get(type) ?? {};
    const names = this.#names.get(type) ?? [];
    const answer =
      this.#variant === "delta" ? delta(type, { nonce, error }) : sotw(type, { nonce, error, versionInfo, names });
    return this.#hear(this.talk.hear(1, answer));
  }

  put(...puts: readonly Resource[]): readonly string[] {
    this.talk.put(...puts);
    return this.#hear(this.talk.turns());
  }

  drop(...names: readonly string[]): readonly string[] {
    this.talk.change({ deletes: names.map((name) => ({ type: CLUSTER, name })) });
    return this.#hear(this.talk.turns());
  }

  versionOf(type: typeof ROUTE): string | undefined {
    return this.#newest.get(type)?.version;
  }

  /** Of a type, the timer that runs longest. */
  waitInVain(): readonly string[] {
    const started = this.talk.asked.flatMap((effect) => (effect.kind === "start-timer" ? [effect] : []));
    const cancelled = this.talk.asked.flatMap((effect) => (effect.kind === "cancel-timer" ? [effect.timer] : []));
    for (const { timer } of started.filter((one) => one.ms === 10_000 && !cancelled.includes(one.timer)))
      this.talk.fire(timer);
    this.talk.asked.length = 0;
    return this.#hear(this.talk.turns());
  }

  get overdue(): number {
    return this.talk.reports.filter(({ kind }) => kind === "order-overdue").length;
  }

  #hear(said: readonly Said[]): readonly string[] {
    for (const one of said) this.#newest.set(one.type, one);
    return says(said);
  }
}

/** In sync, with one user of the Cluster `old`. */
function inSync(variant: Variant, type = ROUTE): Client {
  const client = new Client(variant, plain("old"), using(type, "u", "0", "old"));
  client.ask(CLUSTER);
  client.accept(CLUSTER);
  client.ask(type, ...(type === ROUTE ? ["u"] : []));
  client.accept(type);
  return client;
}

const withTypes = variants.flatMap((variant) => [
  { variant, type: ROUTE, is: "a route" },
  { variant, type: LISTENER, is: "a Listener" },
]);

describe.each(withTypes)("S-ORD-06 $is that waits, in $variant, and Clusters that keep coming", ({ variant, type }) => {
  test("is told as it was when its wait began, and then as it is", () => {
    const client = inSync(variant, type);
    client.put(plain("a"), using(type, "u", "1", "old", "a"));
    expect(client.put(plain("b"), using(type, "u", "2", "old", "a", "b"))).toEqual([]);
    expect(client.put(plain("c"), using(type, "u", "3", "old", "a", "b", "c"))).toEqual([]);
    const clusters = variant === "sotw" ? "old@1,a@1,b@1,c@1" : "b@1,c@1";
    expect(client.accept(CLUSTER)).toEqual([clusters, "u@1"]);
    const mixed = client.versionOf(type);
    expect(client.accept(type)).toEqual([]);
    expect(client.accept(CLUSTER)).toEqual(["u@3"]);
    // A client that came back with the older one would not be taken for one that has the newest.
    if (variant === "sotw" && type === LISTENER) expect(client.versionOf(type)).not.toBe(mixed);
    expect([client.accept(type), client.overdue]).toEqual([[], 0]);
  });

  test("is not told what an edit took back", () => {
    const client = inSync(variant, type);
    client.put(plain("a"), using(type, "u", "1", "a"));
    client.put(plain("b"), using(type, "u", "2", "b"));
    const clusters = variant === "sotw" ? "old@1,a@1,b@1" : "b@1";
    expect(client.accept(CLUSTER)).toEqual([clusters]);
    expect(client.accept(CLUSTER)).toEqual(["u@2"]);
  });

  test("follows where each edit takes the one before back", () => {
    const client = inSync(variant, type);
    const told: (readonly string[])[] = [];
    for (let n = 1; n <= 24; n++) {
      told.push(client.put(plain(`c${n}`), using(type, "u", `${n}`, `c${n}`)));
      if (n % 3 === 0) told.push(client.accept(CLUSTER));
      if (told.at(-1)?.some((one) => one.startsWith("u@")) === true) client.accept(type);
    }
    const users = told.flat().filter((one) => one.startsWith("u@"));
    expect(users).toEqual(["u@4", "u@12", "u@18"]);
  });

  test("is not told as it was if a Cluster that it would use is gone by now", () => {
    const client = inSync(variant, type);
    client.put(plain("a"), plain("b"), using(type, "u", "1", "a", "b"));
    client.talk.put(plain("c"), using(type, "u", "2", "a", "b", "c"));
    client.drop("b");
    const clusters = variant === "sotw" ? "old@1,a@1,c@1,b@1" : "c@1";
    expect(client.accept(CLUSTER)).toEqual([clusters]);
    expect(client.accept(CLUSTER).at(-1)).toBe("u@2");
  });

  test("may go on using a Cluster that is gone as long as the client is not told so", () => {
    const client = inSync(variant, type);
    client.put(plain("a"), using(type, "u", "1", "old", "a"));
    client.talk.put(plain("b"), using(type, "u", "2", "a", "b"));
    client.drop("old");
    const clusters = variant === "sotw" ? "a@1,b@1,old@1" : "b@1";
    expect(client.accept(CLUSTER)).toEqual([clusters, "u@1"]);
    expect(client.accept(type)).toEqual([]);
    expect(client.accept(CLUSTER)).toEqual(["u@2"]);
    expect(client.accept(type)).toEqual([variant === "sotw" ? "a@1,b@1" : "-old"]);
  });

  test("starts over the time that it may take whenever it is told something", () => {
    const client = inSync(variant, type);
    client.put(plain("a"), using(type, "u", "1", "old", "a"));
    client.talk.asked.length = 0;
    client.put(plain("b"), using(type, "u", "2", "old", "a", "b"));
    client.accept(CLUSTER);
    client.accept(type);
    client.put(plain("c"), using(type, "u", "3", "old", "a", "b", "c"));
    expect(client.overdue).toBe(0);
    client.waitInVain();
    expect(client.overdue).toBe(0);
  });
});

test.each(variants)("the first answer does not wait for what comes while it waits, in %s", (variant) => {
  const client = new Client(variant, plain("old"), using(ROUTE, "u", "0", "old"), using(ROUTE, "v", "0", "old"));
  client.ask(CLUSTER);
  client.accept(CLUSTER);
  client.ask(LISTENER);
  client.put(plain("a"), using(ROUTE, "u", "1", "a"));
  expect(client.ask(ROUTE, "u", "v", "w")).toEqual([]);
  client.put(plain("b"), using(ROUTE, "v", "1", "old", "b"), using(ROUTE, "w", "1", "b"));
  const clusters = variant === "sotw" ? "old@1,a@1,b@1" : "b@1";
  expect(client.accept(CLUSTER)).toEqual([clusters, "u@1,v@0"]);
  expect(client.accept(ROUTE)).toEqual([]);
  expect(client.accept(CLUSTER)).toEqual(["v@1,w@1"]);
});

test.each(variants)("what waits too long ends alone: the others wait for their own Clusters, in %s", (variant) => {
  const client = new Client(variant, plain("old"), using(ROUTE, "u", "0", "old"), using(ROUTE, "v", "0", "old"));
  client.ask(CLUSTER);
  client.accept(CLUSTER);
  client.ask(ROUTE, "u", "v");
  client.accept(ROUTE);
  client.put(resource(CLUSTER, "empty", "1"), using(ROUTE, "u", "1", "empty"));
  client.accept(CLUSTER);
  client.put(plain("late"), using(ROUTE, "v", "1", "late"));
  expect(client.waitInVain()).toEqual(["u@1"]);
  expect(client.accept(ROUTE)).toEqual([]);
  expect(client.accept(CLUSTER)).toEqual(["v@1"]);
});

const renamed = [
  { variant: "sotw", type: LISTENER, is: "a Listener" },
  { variant: "delta", type: LISTENER, is: "a Listener" },
  { variant: "delta", type: HOST, is: "a virtual host" },
] as const;

describe.each(renamed)("S-ORD-06 the removal of $is, in $variant,", ({ variant, type }) => {
  /** In sync, with two users of the Cluster `old`. */
  const inSyncWithTwo = (): Client => {
    const client = new Client(variant, plain("old"), using(type, "r/u", "0", "old"), using(type, "r/v", "0", "old"));
    client.ask(CLUSTER);
    client.accept(CLUSTER);
    client.ask(type);
    client.accept(type);
    return client;
  };
  /** Renames a user; the new one uses a new Cluster. */
  const rename = (client: Client, from: string, to: string, cluster: string): readonly string[] => {
    client.talk.change({ puts: [plain(cluster), using(type, to, "0", cluster)], deletes: [{ type, name: from }] });
    return client.put();
  };
  const is = (sotw: readonly string[], delta: readonly string[]): readonly string[] =>
    variant === "sotw" ? sotw : delta;

  test("waits for a new one that is held back and may replace it", () => {
    const client = inSyncWithTwo();
    expect(rename(client, "r/u", "r/w", "a")).toEqual(is(["old@1,a@1"], ["a@1"]));
    expect(client.accept(CLUSTER)).toEqual(is(["r/v@0,r/w@0"], ["r/w@0,-r/u"]));
    expect([client.accept(type), client.overdue]).toEqual([[], 0]);
  });

  test("takes along what changes meanwhile and might need its place", () => {
    const client = inSyncWithTwo();
    rename(client, "r/u", "r/w", "a");
    client.talk.put(using(type, "r/v", "1", "old"), using(type, "r/x", "0", "old"));
    expect(client.put()).toEqual([]);
    expect(client.accept(CLUSTER)).toEqual(is(["r/v@1,r/w@0,r/x@0"], ["r/w@0,r/v@1,r/x@0,-r/u"]));
    expect(client.accept(type)).toEqual([]);
  });

  test("does not wait for what is held back later", () => {
    const client = inSyncWithTwo();
    rename(client, "r/u", "r/w", "a");
    expect(rename(client, "r/v", "r/x", "b")).toEqual([]);
    expect(client.accept(CLUSTER)).toEqual(is(["old@1,a@1,b@1", "r/w@0,r/v@0"], ["b@1", "r/w@0,-r/u"]));
    expect(client.put(using(type, "r/w", "1", "old"))).toEqual([]);
    client.accept(type);
    expect(client.accept(CLUSTER)).toEqual(is(["r/w@1,r/x@0"], ["r/x@0,r/w@1,-r/v"]));
  });

  test("does not wait longer than what is held back", () => {
    const client = inSyncWithTwo();
    client.talk.change({
      puts: [resource(CLUSTER, "empty", "1"), using(type, "r/w", "0", "empty")],
      deletes: [{ type, name: "r/u" }],
    });
    client.put();
    expect(client.waitInVain()).toEqual(is(["r/v@0,r/w@0"], ["r/w@0,-r/u"]));
  });

  test("is not sent if the resource comes back meanwhile", () => {
    const client = inSyncWithTwo();
    rename(client, "r/u", "r/w", "a");
    expect(client.put(using(type, "r/u", "0", "old"))).toEqual([]);
    expect(client.accept(CLUSTER)).toEqual(is(["r/v@0,r/w@0,r/u@0"], ["r/w@0"]));
  });
});

test("virtual hosts wait one by one: others that a client asks for are answered", () => {
  const client = new Client("delta", plain("old"), using(HOST, "r/i", "0", "old"));
  client.ask(CLUSTER);
  client.accept(CLUSTER);
  client.ask(HOST, "r/h");
  client.accept(HOST);
  client.put(plain("a"), using(HOST, "r/h", "1", "a"));
  expect(client.ask(HOST, "r/i")).toEqual(["r/i@0"]);
  expect(client.accept(HOST)).toEqual([]);
  expect(client.accept(CLUSTER)).toEqual(["r/h@1"]);
  expect(client.overdue).toBe(0);
});
