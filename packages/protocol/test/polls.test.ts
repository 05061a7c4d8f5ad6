import type { Node, Resource, TypeUrl } from "@xdskit/protocol";
import type { Body, Report, StreamState } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { Conversation, node } from "./support/conversation.ts";
import { CLUSTER, ENDPOINTS, failure, resource } from "./support/resources.ts";

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

/** Polls, and returns the number of the poll. */
function poll(talk: Conversation, asking: Asking = {}): number {
  const { type = CLUSTER, version: versionInfo, error, nonce, names = [], node: by = node("n") } = asking;
  // Every poll comes from another port.
  const address = `${asking.address ?? "10.0.0.1"}:${1_024 + talk.reports.length}`;
  const peer = { address, isLoopback: false, isTls: true, names: [] };
  const nack = error === undefined ? undefined : { code: 13, message: error };
  const request = { node: by, nonce, error: nack, versionInfo, names };
  return talk.poll(type, request, { peer, holdMs: asking.holdMs ?? HOLD_MS });
}

const said = (talk: Conversation, number: number): string => talk.answers.get(number)?.says ?? "waits";
const bodyOf = (talk: Conversation, number: number): Body | undefined => talk.answers.get(number)?.body;
const versionOf = (talk: Conversation, number: number): string => bodyOf(talk, number)?.version ?? "none";

/** The puts, and what follows from them. */
function put(talk: Conversation, ...puts: readonly Resource[]): void {
  talk.put(...puts);
  talk.turns();
}

const cluster = (name: string, label = "1"): Resource => resource(CLUSTER, name, label);

test("everybody who asks for the same is given the same body, whoever they are", () => {
  const polled = new Conversation();
  put(polled, cluster("a"), cluster("b"));
  const polls = Array.from({ length: 100 }, (_, i) => poll(polled, { node: node(`n${i}`) }));
  expect(new Set(polls.map((poll) => bodyOf(polled, poll))).size).toBe(1);
  const version = versionOf(polled, 1);
  const held = polls.map((_, i) => poll(polled, { node: node(`n${i}`), version }));
  expect(new Set(held.map((poll) => said(polled, poll)))).toEqual(new Set(["waits"]));
  put(polled, cluster("c"));
  expect(new Set(held.map((poll) => said(polled, poll)))).toEqual(new Set(["given a b c"]));
  expect(new Set(held.map((poll) => bodyOf(polled, poll))).size).toBe(1);
});

test("a change costs the topics that it touches, and a turn is one of them", () => {
  const polled = new Conversation();
  const names = Array.from({ length: 50 }, (_, i) => `e${i}`);
  put(polled, ...names.map((name) => resource(ENDPOINTS, name, "1")));
  for (const name of names) {
    const asked = { type: ENDPOINTS, names: [name] };
    const version = versionOf(polled, poll(polled, asked));
    poll(polled, { ...asked, version });
  }
  polled.put(cluster("a"));
  expect(polled.machine.isDue).toBe(false);
  polled.put(resource(ENDPOINTS, "e7", "2"));
  let turns = 0;
  let answers = 0;
  while (polled.machine.isDue) {
    turns++;
    answers += polled.machine.next(1).filter(({ kind }) => kind === "answer-poll").length;
  }
  expect([turns, answers]).toEqual([2, 1]);
});

test("a poll is passed over by what does not concern it, and given what does: by name, by alias, and what is gone", () => {
  const polled = new Conversation();
  const e = (name: string, label: string, aliases: readonly string[] = []): Resource =>
    resource(ENDPOINTS, name, label, { aliases });
  put(polled, e("a", "1"), e("b", "1"));
  const ask = (...names: readonly string[]): number => {
    const version = versionOf(polled, poll(polled, { type: ENDPOINTS, names }));
    return poll(polled, { type: ENDPOINTS, names, version });
  };
  const [named, aliased, both] = [ask("a"), ask("a", "other"), ask("a", "b")];
  const all = (): readonly string[] => [named, aliased, both].map((number) => said(polled, number));
  for (let i = 0; i < 5; i++) put(polled, e("c", String(i)));
  expect(all()).toEqual(["waits", "waits", "waits"]);
  put(polled, e("d", "1", ["other"]));
  expect(all()).toEqual(["waits", "given a d", "waits"]);
  polled.commit([{ layer: "base", deletes: [{ type: ENDPOINTS, name: "b" }] }]);
  polled.turns();
  expect(all()).toEqual(["waits", "given a d", "given a"]);
  put(polled, e("a", "2"));
  expect(all()).toEqual(["given a", "given a d", "given a"]);
});

describe("who polls", () => {
  const lonely = (polled: Conversation): StreamState | undefined => [...polled.machine.streams()][0];

  test("S-RST-12 and never again owes no answer; one that polls on does", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    const first = versionOf(polled, poll(polled, { names: ["a"] }));
    expect(lonely(polled)?.types[0]).toMatchObject({ sentVersion: first, pending: [], acked: undefined });
    const second = poll(polled, { names: ["a"], version: first });
    put(polled, cluster("a", "2"));
    expect(lonely(polled)?.types[0]).toMatchObject({
      acked: { version: first },
      pending: [{ version: versionOf(polled, second) }],
    });
  });

  test("is shown as a stream of one type: what it was given, took and refused", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    const first = versionOf(polled, poll(polled, { names: ["a", "x"] }));
    expect(lonely(polled)).toMatchObject({
      stream: 1,
      variant: "sotw",
      isPoller: true,
      onlyType: CLUSTER,
      node: { id: "n" },
      layers: ["base"],
      types: [{ isWildcard: false, names: 2, doesNotExist: ["x"], sentVersion: first, pending: [] }],
    });
    poll(polled, { names: ["a", "x"], version: first });
    expect(lonely(polled)?.types[0]).toMatchObject({ pending: [], acked: { version: first }, nacked: undefined });
    put(polled, cluster("a", "2"));
    poll(polled, { names: ["a", "x"], version: first, error: "no good" });
    const [type] = lonely(polled)?.types ?? [];
    expect(type).toMatchObject({
      acked: { version: first },
      nacked: { error: { message: "no good" }, names: ["a"] },
    });
    expect(polled.reports.map(({ kind }) => kind)).toEqual([
      "poller-met",
      "node-connected",
      "request-classified",
      "response-sent",
      "request-classified",
      "response-acked",
      "response-sent",
      "request-classified",
      "response-nacked",
    ]);
  });

  test("at the version that it had is suspected of a refusal: booked once, counted each time", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    const version = versionOf(polled, poll(polled));
    poll(polled, { version });
    put(polled, cluster("a", "2"));
    for (let i = 0; i < 3; i++) poll(polled, { version });
    const counts = (kind: Report["kind"]): number => polled.reports.filter((report) => report.kind === kind).length;
    expect([counts("response-nacked"), counts("polled-at-old-version")]).toEqual([1, 3]);
    expect(lonely(polled)?.types[0]?.nacked?.error.message).toMatch(/^suspected: /);
  });

  test("is not suspected when it starts anew, only when it does so again and again", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    const nacks = (): number => polled.reports.filter(({ kind }) => kind === "response-nacked").length;
    const each = [1, 2, 3].map(() => [said(polled, poll(polled)), nacks()]);
    expect(each).toEqual([
      ["given a", 0],
      ["given a", 0],
      ["given a", 1],
    ]);
  });

  test("that has what there is counts as having taken it, also if nobody remembers that it was given", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    const version = versionOf(polled, poll(polled, { node: node("other") }));
    poll(polled, { version });
    expect([...polled.machine.streams()][1]?.types[0]).toMatchObject({ acked: { version }, pending: [] });
  });

  test("is forgotten when it polls no more, and what belongs to it", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    poll(polled);
    polled.pass(150_000);
    expect([...polled.machine.streams()]).toHaveLength(1);
    polled.pass(150_000);
    expect([...polled.machine.streams()]).toEqual([]);
    expect(polled.reports.at(-1)?.kind).toBe("poller-forgotten");
    polled.pass(HOLD_MS);
    polled.pass(150_000);
    expect(polled.timers.size).toBe(0);
  });

  test("is forgotten between its polls where memory is short: it is not shown, and what it rejected is given again", () => {
    const polled = new Conversation({ maxPollerBytes: 0 });
    const shown = (): readonly unknown[] => [...polled.machine.streams()].map(({ stream }) => stream);
    put(polled, cluster("a"));
    const version = versionOf(polled, poll(polled));
    expect([shown(), polled.timers.size, polled.reports.at(-1)]).toMatchObject([
      [],
      0,
      { kind: "poller-forgotten", stream: 1, evicted: { limit: "maxPollerBytes" } },
    ]);
    const held = poll(polled, { version });
    expect([said(polled, held), shown()]).toEqual(["waits", [held]]);
    put(polled, cluster("a", "2"));
    expect([said(polled, held), shown()]).toEqual(["given a", []]);
    expect(said(polled, poll(polled, { version }))).toBe("given a");
    expect(polled.reports.map(({ kind }) => kind)).not.toContain("polled-at-old-version");
  });

  test("is remembered no longer than others when its poll fails", () => {
    const failing = (): never => {
      throw new Error("no digest");
    };
    const polled = new Conversation({ maxPollerBytes: 0, digest: failing, dialect: { resourceErrors: "failed" } });
    put(polled, failure(CLUSTER, "a", 13));
    expect(() => poll(polled, { version: "1" })).toThrow("no digest");
    polled.on({ kind: "poll-closed", poll: 1 });
    expect([...polled.machine.streams()]).toEqual([]);
  });

  test("with a version longer than any is answered at once, and the version is not kept", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    const version = versionOf(polled, poll(polled));
    expect(said(polled, poll(polled, { version }))).toBe("waits");
    const other = { node: node("m"), version: "v".repeat(1_000_000) };
    const answers = [poll(polled, other), poll(polled, other)].map((number) => said(polled, number));
    expect(answers).toEqual(["given a", "waits"]);
    expect(
      polled.reports.flatMap((report) => (report.kind === "response-nacked" ? [report.error.message] : [])),
    ).toEqual([expect.stringContaining('version ""')]);
  });

  test("S-RST-03 with a version that the caller set has it, however long the version is", () => {
    const polled = new Conversation();
    const commit = (label: string, version: string): void => {
      const typeVersions = new Map([[CLUSTER, version]]);
      polled.commit([{ layer: "base", puts: [cluster("a", label)], typeVersions }]);
      polled.turns();
    };
    commit("1", "v".repeat(1_000));
    for (const asking of [{}, { names: ["a"] }]) {
      const version = versionOf(polled, poll(polled, asking));
      expect(said(polled, poll(polled, { ...asking, version, holdMs: 0 }))).toBe("unchanged");
    }
    const other = { node: node("m") };
    commit("2", "x".repeat(1_000));
    const version = versionOf(polled, poll(polled, other));
    commit("3", "y");
    expect(said(polled, poll(polled, { ...other, version }))).toBe("given a");
    expect(polled.reports.flatMap((one) => (one.kind === "request-classified" ? [one.as] : []))).toEqual([
      ...["initial", "ack", "initial", "ack", "initial", "ack"],
    ]);
  });

  test("counts while a poll waits, with its names; beyond the limit of memory the poll is refused", () => {
    const names = ["a", "b"];
    const polled = new Conversation({ maxClientBytes: 2_000 });
    put(polled, cluster("a"));
    const version = versionOf(polled, poll(polled, { names }));
    expect(polled.machine.clientBytes).toBe(0);
    const held = poll(polled, { names, version });
    const bytes = polled.machine.clientBytes;
    expect([said(polled, held), bytes > 2 * 128]).toEqual(["waits", true]);
    const views = [...polled.machine.streams()].length;
    const long = { node: node("m"), names: ["x".repeat(2_000)] };
    expect(said(polled, poll(polled, long))).toBe("refused 8");
    expect([polled.machine.clientBytes, [...polled.machine.streams()].length]).toEqual([bytes, views]);
    put(polled, cluster("a", "2"));
    expect([said(polled, held), polled.machine.clientBytes]).toEqual(["given a", 0]);
  });

  test("is another one from another address, or by other names", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    for (const asking of [{}, {}, { address: "10.0.0.2" }, { names: ["a"] }, { node: node("m") }]) poll(polled, asking);
    expect([...polled.machine.streams()].map(({ stream }) => stream)).toEqual([1, 3, 4, 5]);
  });
});

describe("a held poll", () => {
  test("is placed anew when nodes are, and given what it sees there", () => {
    const polled = new Conversation();
    polled.commit([
      { layer: "base", puts: [cluster("a")] },
      { layer: "other", puts: [cluster("b")] },
    ]);
    polled.turns();
    const number = poll(polled, { version: versionOf(polled, poll(polled)) });
    polled.on({ kind: "transaction-committed", nodeMapping: () => ["base"] });
    polled.turns();
    expect(said(polled, number)).toBe("waits");
    polled.on({ kind: "transaction-committed", nodeMapping: () => ["other"] });
    polled.turns();
    expect(said(polled, number)).toBe("given b");
  });

  test("is refused when its node may not be served any more", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    const number = poll(polled, { version: versionOf(polled, poll(polled)) });
    polled.on({ kind: "transaction-committed", nodeMapping: () => ({ refused: "no" }) });
    polled.turns();
    expect(said(polled, number)).toBe("refused 7");
  });

  test("is sent home when the server goes", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    const number = poll(polled, { version: versionOf(polled, poll(polled)) });
    polled.on({ kind: "polls-dismissed" });
    polled.turns();
    expect(said(polled, number)).toBe("unchanged");
  });

  test("that was given up is told nothing, and leaves no timer behind", () => {
    const polled = new Conversation();
    put(polled, cluster("a"));
    const version = versionOf(polled, poll(polled));
    polled.pass(HOLD_MS);
    const before = polled.timers.size;
    const number = poll(polled, { version });
    expect(polled.timers.size).toBe(before + 1);
    polled.on({ kind: "poll-closed", poll: number });
    polled.turns();
    put(polled, cluster("b"));
    expect([said(polled, number), polled.timers.size]).toEqual(["waits", before]);
  });

  test("asks for no more names than a stream may", () => {
    const polled = new Conversation({ maxSubscriptionsPerStream: 2 });
    expect(said(polled, poll(polled, { names: ["a", "b", "c"] }))).toBe("refused 8");
    expect(said(polled, poll(polled, { names: ["a", "b"] }))).toBe("given");
  });
});

test("a refusal that names the version is understood by a server that never gave it", () => {
  const polled = new Conversation();
  put(polled, cluster("a"));
  const nonce = versionOf(polled, poll(polled, { node: node("other") }));
  const number = poll(polled, { version: "old", nonce, error: "no" });
  expect(said(polled, number)).toBe("waits");
  expect(polled.reports.at(-1)).toMatchObject({ kind: "response-nacked", version: nonce });
});

test("streams and polls have their turns by turns", () => {
  const polled = new Conversation();
  put(polled, cluster("a"));
  const version = versionOf(polled, poll(polled));
  for (let i = 0; i < 3; i++) poll(polled, { version, node: node(`n${i}`) });
  for (let i = 0; i < 3; i++) {
    const stream = 1_000 + i;
    polled.open(stream, "sotw", CLUSTER, i);
    polled.subscribe(stream, CLUSTER, [], { node: node("s") });
    polled.ack(stream, CLUSTER);
  }
  polled.put(cluster("b"));
  const kinds: string[] = [];
  while (polled.machine.isDue) {
    for (const { kind } of polled.machine.next(1)) if (kind === "send" || kind === "answer-poll") kinds.push(kind);
  }
  expect(kinds.filter((kind) => kind === "send")).toHaveLength(3);
  expect(kinds.filter((kind) => kind === "answer-poll")).toHaveLength(3);
  expect(kinds.slice(0, 3)).toContain("answer-poll");
  expect(kinds.slice(0, 2)).toContain("send");
});
