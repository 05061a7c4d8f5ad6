import type { LayerChange, Node, Peer, Resource, TypeUrl } from "@xdskit/protocol";
import type { Report, ServerEffect, SotwRequest, StreamState } from "@xdskit/protocol/internal";
import { ServerMachine, type ServerMachineOptions } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { node } from "./support/conversation.ts";
import { CLUSTER, digest, ENDPOINTS, resource, traits } from "./support/resources.ts";

const HOLD_MS = 800;

interface Asking {
  readonly type?: TypeUrl;
  readonly names?: readonly string[];
  readonly version?: string;
  readonly error?: string;
  readonly nonce?: string;
  readonly node?: Node;
  readonly address?: string;
  readonly holdMs?: number;
}

/** A server machine that is polled, and what it says to each poll. */
class Polled {
  readonly machine: ServerMachine;
  readonly reports: Report[] = [];
  readonly timers = new Map<number, number>();
  readonly #said = new Map<number, string>();
  readonly #bodies = new Map<number, object>();
  #last = 0;

  constructor(options: Partial<ServerMachineOptions> = {}) {
    this.machine = new ServerMachine({ digest, traits, nodeMapping: () => ["base"], ...options });
  }

  put(...puts: readonly Resource[]): void {
    this.change({ layer: "base", puts });
  }

  change(...changes: readonly LayerChange[]): void {
    this.#take(this.machine.on({ kind: "transaction-committed", transaction: { changes } }));
    this.turns();
  }

  /** Polls, and returns the number of the poll. */
  poll(asking: Asking = {}): number {
    const poll = ++this.#last;
    const request: SotwRequest = {
      kind: "sotw",
      type: undefined,
      node: asking.node ?? node("n"),
      nonce: asking.nonce,
      error: asking.error === undefined ? undefined : { code: 13, message: asking.error },
      versionInfo: asking.version,
      names: asking.names ?? [],
    };
    const peer: Peer = {
      address: `${asking.address ?? "10.0.0.1"}:${poll}`,
      isLoopback: false,
      isTls: true,
      names: [],
    };
    const { type = CLUSTER, holdMs = HOLD_MS } = asking;
    this.#take(this.machine.on({ kind: "poll-received", poll, peer, apiVersion: "v3", type, request, holdMs }));
    this.turns();
    return poll;
  }

  /** What a poll was told; "waits" before that. */
  said(poll: number): string {
    return this.#said.get(poll) ?? "waits";
  }

  /** The version of what a poll was given. */
  version(poll: number): string {
    const body = this.#bodies.get(poll);
    return body !== undefined && "version" in body ? String(body.version) : "none";
  }

  bodyOf(poll: number): object | undefined {
    return this.#bodies.get(poll);
  }

  on(event: Parameters<ServerMachine["on"]>[0]): void {
    this.#take(this.machine.on(event));
    this.turns();
  }

  /** Lets every timer fire that runs for so long. */
  fire(ms: number): void {
    for (const [timer, after] of [...this.timers]) {
      if (after !== ms || !this.timers.delete(timer)) continue;
      this.#take(this.machine.on({ kind: "timer-fired", timer }));
    }
    this.turns();
  }

  turns(): void {
    while (this.machine.isDue) this.#take(this.machine.next(1));
  }

  #take(effects: readonly ServerEffect[]): void {
    for (const effect of effects) {
      if (effect.kind === "start-timer") this.timers.set(effect.timer, effect.ms);
      else if (effect.kind === "cancel-timer") this.timers.delete(effect.timer);
      else if (effect.kind === "report") this.reports.push(effect.report);
      else if (effect.kind === "answer-poll") {
        const puts = effect.body.segments.flatMap((segment) => segment.puts.map(({ name }) => name));
        this.#said.set(effect.poll, `given ${puts.join(" ")}`.trim());
        this.#bodies.set(effect.poll, effect.body);
      } else if (effect.kind === "poll-unchanged") this.#said.set(effect.poll, "unchanged");
      else if (effect.kind === "refuse-poll") this.#said.set(effect.poll, `refused ${effect.status.code}`);
    }
  }
}

const cluster = (name: string, label = "1"): Resource => resource(CLUSTER, name, label);

test("everybody who asks for the same is given the same body, whoever they are", () => {
  const polled = new Polled();
  polled.put(cluster("a"), cluster("b"));
  const polls = Array.from({ length: 100 }, (_, i) => polled.poll({ node: node(`n${i}`) }));
  expect(new Set(polls.map((poll) => polled.bodyOf(poll))).size).toBe(1);
  const version = polled.version(1);
  const held = polls.map((_, i) => polled.poll({ node: node(`n${i}`), version }));
  expect(new Set(held.map((poll) => polled.said(poll)))).toEqual(new Set(["waits"]));
  polled.put(cluster("c"));
  expect(new Set(held.map((poll) => polled.said(poll)))).toEqual(new Set(["given a b c"]));
  expect(new Set(held.map((poll) => polled.bodyOf(poll))).size).toBe(1);
});

test("a change costs the topics that it touches, and a turn is one of them", () => {
  const polled = new Polled();
  const names = Array.from({ length: 50 }, (_, i) => `e${i}`);
  polled.put(...names.map((name) => resource(ENDPOINTS, name, "1")));
  for (const name of names) {
    const asked = { type: ENDPOINTS, names: [name] };
    const version = polled.version(polled.poll(asked));
    polled.poll({ ...asked, version });
  }
  polled.machine.on({
    kind: "transaction-committed",
    transaction: { changes: [{ layer: "base", puts: [cluster("a")] }] },
  });
  expect(polled.machine.isDue).toBe(false);
  polled.machine.on({
    kind: "transaction-committed",
    transaction: { changes: [{ layer: "base", puts: [resource(ENDPOINTS, "e7", "2")] }] },
  });
  let turns = 0;
  let answers = 0;
  while (polled.machine.isDue) {
    turns++;
    answers += polled.machine.next(1).filter(({ kind }) => kind === "answer-poll").length;
  }
  expect([turns, answers]).toEqual([2, 1]);
});

test("a poll is passed over by what does not concern it, and given what does: by name, by alias, and what is gone", () => {
  const polled = new Polled();
  const e = (name: string, label: string, aliases: readonly string[] = []): Resource =>
    resource(ENDPOINTS, name, label, { aliases });
  polled.put(e("a", "1"), e("b", "1"));
  const ask = (...names: readonly string[]): number => {
    const version = polled.version(polled.poll({ type: ENDPOINTS, names }));
    return polled.poll({ type: ENDPOINTS, names, version });
  };
  const [named, aliased, both] = [ask("a"), ask("a", "other"), ask("a", "b")];
  const said = (): readonly string[] => [named, aliased, both].map((poll) => polled.said(poll));
  for (let i = 0; i < 5; i++) polled.put(e("c", String(i)));
  expect(said()).toEqual(["waits", "waits", "waits"]);
  polled.put(e("d", "1", ["other"]));
  expect(said()).toEqual(["waits", "given a d", "waits"]);
  polled.change({ layer: "base", deletes: [{ type: ENDPOINTS, name: "b" }] });
  expect(said()).toEqual(["waits", "given a d", "given a"]);
  polled.put(e("a", "2"));
  expect(said()).toEqual(["given a", "given a d", "given a"]);
});

describe("who polls", () => {
  const lonely = (polled: Polled): StreamState | undefined => [...polled.machine.streams()][0];

  test("S-RST-12 and never again owes no answer; one that polls on does", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    const first = polled.version(polled.poll({ names: ["a"] }));
    expect(lonely(polled)?.types[0]).toMatchObject({ sentVersion: first, pending: [], acked: undefined });
    const second = polled.poll({ names: ["a"], version: first });
    polled.put(cluster("a", "2"));
    expect(lonely(polled)?.types[0]).toMatchObject({
      acked: { version: first },
      pending: [{ version: polled.version(second) }],
    });
  });

  test("is shown as a stream of one type: what it was given, took and refused", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    const first = polled.version(polled.poll({ names: ["a", "x"] }));
    expect(lonely(polled)).toMatchObject({
      stream: 1,
      variant: "sotw",
      isPoller: true,
      onlyType: CLUSTER,
      node: { id: "n" },
      layers: ["base"],
      types: [{ isWildcard: false, names: 2, missing: ["x"], sentVersion: first, pending: [] }],
    });
    polled.poll({ names: ["a", "x"], version: first });
    expect(lonely(polled)?.types[0]).toMatchObject({ pending: [], acked: { version: first }, nacked: undefined });
    polled.put(cluster("a", "2"));
    polled.poll({ names: ["a", "x"], version: first, error: "no good" });
    const [type] = lonely(polled)?.types ?? [];
    expect(type).toMatchObject({
      acked: { version: first },
      nacked: { error: { message: "no good" }, refused: ["a"] },
    });
    expect(polled.reports.map(({ kind }) => kind)).toEqual([
      "poller-met",
      "node-identified",
      "request-understood",
      "response-sent",
      "request-understood",
      "response-acked",
      "response-sent",
      "request-understood",
      "response-nacked",
    ]);
  });

  test("at the version that it had is suspected of a refusal: booked once, counted each time", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    const version = polled.version(polled.poll());
    polled.poll({ version });
    polled.put(cluster("a", "2"));
    for (let i = 0; i < 3; i++) polled.poll({ version });
    const counts = (kind: Report["kind"]): number => polled.reports.filter((report) => report.kind === kind).length;
    expect([counts("response-nacked"), counts("polled-at-old-version")]).toEqual([1, 3]);
    expect(lonely(polled)?.types[0]?.nacked?.error.message).toMatch(/^suspected: /);
  });

  test("is not suspected when it starts anew, only when it does so again and again", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    const nacks = (): number => polled.reports.filter(({ kind }) => kind === "response-nacked").length;
    const said = [1, 2, 3].map(() => [polled.said(polled.poll()), nacks()]);
    expect(said).toEqual([
      ["given a", 0],
      ["given a", 0],
      ["given a", 1],
    ]);
  });

  test("that has what there is counts as having taken it, also if nobody remembers that it was given", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    const version = polled.version(polled.poll({ node: node("other") }));
    polled.poll({ version });
    expect([...polled.machine.streams()][1]?.types[0]).toMatchObject({ acked: { version }, pending: [] });
  });

  test("is forgotten when it polls no more, and what belongs to it", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    polled.poll();
    polled.fire(150_000);
    expect([...polled.machine.streams()]).toHaveLength(1);
    polled.fire(150_000);
    expect([...polled.machine.streams()]).toEqual([]);
    expect(polled.reports.at(-1)?.kind).toBe("poller-forgotten");
    polled.fire(HOLD_MS);
    polled.fire(150_000);
    expect(polled.timers.size).toBe(0);
  });

  test("is another one from another address, or by other names", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    for (const asking of [{}, {}, { address: "10.0.0.2" }, { names: ["a"] }, { node: node("m") }]) polled.poll(asking);
    expect([...polled.machine.streams()].map(({ stream }) => stream)).toEqual([1, 3, 4, 5]);
  });
});

describe("a held poll", () => {
  test("is placed anew when nodes are, and given what it sees there", () => {
    const polled = new Polled();
    polled.change({ layer: "base", puts: [cluster("a")] }, { layer: "other", puts: [cluster("b")] });
    const poll = polled.poll({ version: polled.version(polled.poll()) });
    polled.on({ kind: "transaction-committed", nodeMapping: () => ["base"] });
    expect(polled.said(poll)).toBe("waits");
    polled.on({ kind: "transaction-committed", nodeMapping: () => ["other"] });
    expect(polled.said(poll)).toBe("given b");
  });

  test("is refused when its node may not be served any more", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    const poll = polled.poll({ version: polled.version(polled.poll()) });
    polled.on({ kind: "transaction-committed", nodeMapping: () => ({ refused: "no" }) });
    expect(polled.said(poll)).toBe("refused 7");
  });

  test("is sent home when the server goes", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    const poll = polled.poll({ version: polled.version(polled.poll()) });
    polled.on({ kind: "polls-dismissed" });
    expect(polled.said(poll)).toBe("unchanged");
  });

  test("that was given up is told nothing, and leaves no timer behind", () => {
    const polled = new Polled();
    polled.put(cluster("a"));
    const version = polled.version(polled.poll());
    polled.fire(HOLD_MS);
    const before = polled.timers.size;
    const poll = polled.poll({ version });
    expect(polled.timers.size).toBe(before + 1);
    polled.on({ kind: "poll-closed", poll });
    polled.put(cluster("b"));
    expect([polled.said(poll), polled.timers.size]).toEqual(["waits", before]);
  });

  test("asks for no more names than a stream may", () => {
    const polled = new Polled({ maxSubscriptionsPerStream: 2 });
    expect(polled.said(polled.poll({ names: ["a", "b", "c"] }))).toBe("refused 8");
    expect(polled.said(polled.poll({ names: ["a", "b"] }))).toBe("given");
  });
});

test("a refusal that names the version is understood by a server that never gave it", () => {
  const polled = new Polled();
  polled.put(cluster("a"));
  const nonce = polled.version(polled.poll({ node: node("other") }));
  const poll = polled.poll({ version: "old", nonce, error: "no" });
  expect(polled.said(poll)).toBe("waits");
  expect(polled.reports.at(-1)).toMatchObject({ kind: "response-nacked", version: nonce });
});

test("streams and polls have their turns by turns", () => {
  const polled = new Polled();
  polled.put(cluster("a"));
  const version = polled.version(polled.poll());
  for (let i = 0; i < 3; i++) polled.poll({ version, node: node(`n${i}`) });
  for (let i = 0; i < 3; i++) {
    const stream = 1_000 + i;
    const peer = { address: "10.0.0.1:1", isLoopback: false, isTls: false, names: [] };
    polled.on({
      kind: "stream-opened",
      stream,
      variant: "sotw",
      onlyType: CLUSTER,
      apiVersion: "v3",
      peer,
      connection: i,
    });
    const request = { kind: "sotw", type: CLUSTER, node: node("s"), names: [] } as const;
    polled.on({
      kind: "request-received",
      stream,
      request: { ...request, nonce: undefined, error: undefined, versionInfo: undefined },
    });
    polled.on({
      kind: "request-received",
      stream,
      request: { ...request, nonce: "1", error: undefined, versionInfo: version },
    });
  }
  const transaction = { changes: [{ layer: "base", puts: [cluster("b")] }] };
  polled.machine.on({ kind: "transaction-committed", transaction });
  const kinds: string[] = [];
  while (polled.machine.isDue) {
    for (const { kind } of polled.machine.next(1)) if (kind === "send" || kind === "answer-poll") kinds.push(kind);
  }
  expect(kinds.filter((kind) => kind === "send")).toHaveLength(3);
  expect(kinds.filter((kind) => kind === "answer-poll")).toHaveLength(3);
  expect(kinds.slice(0, 3)).toContain("answer-poll");
  expect(kinds.slice(0, 2)).toContain("send");
});
