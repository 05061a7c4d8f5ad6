import { describe, expect, test } from "vitest";
import { delta, node } from "../../../test/support/conversation.ts";
import { viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { digest, ENDPOINTS, resource, traits } from "../../../test/support/resources.ts";
import { toldAtOnce } from "../../../test/support/type-streams.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { Body } from "../../message/body.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { everythingRemovable, PendingRemovals } from "../cache/pending-removals.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { DeltaTypeStream } from "../type/delta.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import type { TypeStream, TypeStreamOptions } from "../type/type-stream.ts";
import { Heartbeats } from "./heartbeat.ts";

const everything = {
  ...{ removable: () => everythingRemovable, heldBack: nothingHeldBack },
  absences: toldAtOnce,
};
const no = { code: 3, message: "no" };
const timed = (name: string, label: string, ttlMs: number | undefined): Resource => ({
  ...resource(ENDPOINTS, name, label),
  ttlMs,
});

/** A client that is sent the TTLs of endpoints. */
class Client {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest);
  readonly #views = new CurrentViews(this.responses);
  readonly view = viewOf(this.base);
  readonly beats = new Heartbeats();
  readonly type: TypeStream;
  #revision = 0;
  #lastNonce = 0;

  constructor(names: readonly string[] = [], ttl: TypeStreamOptions["ttl"] = "told", type: TypeUrl = ENDPOINTS) {
    const known = traits(type);
    if (known === undefined) throw new Error(`no traits of ${type}`);
    this.type = new DeltaTypeStream({
      ...{ traits: known, dialect: dialectFor(node("n")), isUnknown: false, isAggregated: true },
      ...{ ttl, cameAfterOwner: false },
    });
    this.type.onRequest(delta(type, { subscribe: names }));
  }

  get current(): CurrentView {
    return this.#views.of(this.view).forTtls(ENDPOINTS, "told");
  }

  put(...puts: readonly Resource[]): void {
    this.base.put(++this.#revision, ...puts);
    this.responses.advance(this.#revision, undefined);
  }

  delete(name: string): void {
    this.base.tableFor(ENDPOINTS).delete(name, ++this.#revision);
    this.responses.advance(this.#revision, undefined);
  }

  send(): string {
    const [answer] = this.type.next(this.current, everything);
    if (answer === undefined) throw new Error("nothing to send");
    const nonce = String(++this.#lastNonce);
    const { revision } = this.current;
    this.type.deliveries.open({
      nonce,
      body: answer.body,
      revision,
      from: revision - 1,
      at: 1,
      isInTurn: answer.isInOrder,
    });
    return nonce;
  }

  accept(nonce = this.send()): void {
    this.type.onRequest(delta(ENDPOINTS, { nonce }));
  }

  beat(variant: Body["variant"] = "delta"): unknown {
    this.beats.expect(this.type);
    const body = this.beats.next(this.type, variant, this.current);
    return body?.segments.map(({ puts, heartbeats = [] }) =>
      [...puts, ...heartbeats].map(({ name, version, ttlMs }) => `${name} ${version} ${ttlMs}`),
    );
  }

  needs(): unknown {
    return [...this.beats.needs([this.type], () => this.current)].map(({ type, ms }) => [type, ms]);
  }
}

const line = (one: Resource): string => `${one.name} ${one.version} ${one.ttlMs}`;

describe("S-TTL-09: a heartbeat", () => {
  const [a, b] = [timed("a", "1", 3_000), timed("b", "1", 600)];

  test("has the resources with a TTL that the client was sent, if one is due", () => {
    const client = new Client(["a", "b", "c"]);
    client.put(a, b, timed("c", "1", undefined), timed("x", "1", 1));
    expect([client.beats.isDue, client.beat()]).toEqual([false, undefined]);
    client.accept();
    expect(client.beat()).toEqual([[line(a), line(b)]]);
    expect([client.beats.isDue, client.beats.next(client.type, "delta", client.current)]).toEqual([false, undefined]);
  });

  test("is not for clients that are not sent TTLs, or hold nothing with one", () => {
    const silent = new Client([], "not-announced");
    expect([silent.beats.expect(silent.type), silent.beats.isDue]).toEqual([false, false]);
    const client = new Client();
    client.put(timed("c", "1", undefined));
    client.accept();
    expect([client.beats.expect(client.type), client.beats.isDue, client.beat()]).toEqual([true, true, undefined]);
  });

  test("is left out if everything was sent since the last one, once", () => {
    const client = new Client();
    client.put(a);
    client.accept();
    client.beats.confirm(client.type);
    expect([client.beat(), client.beat()]).toEqual([undefined, [[line(a)]]]);
  });

  test("has them as the client was sent them, whatever waits or is gone by now", () => {
    const client = new Client();
    client.put(a, b, timed("c", "1", undefined));
    client.accept();
    client.put(timed("a", "2", 9_000), timed("c", "2", 1_000), timed("new", "1", 1_000));
    client.delete("b");
    expect(client.beat()).toEqual([[line(a), line(b)]]);
    client.accept();
    expect(client.beat()).toEqual([
      [line(timed("a", "2", 9_000)), line(timed("c", "2", 1_000)), line(timed("new", "1", 1_000))],
    ]);
  });

  test("leaves out what the client asked for anew, NACKed or was sent out of order without a TTL", () => {
    const client = new Client(["a", "b", "c"]);
    client.put(a, b, timed("c", "1", 1_000));
    client.accept();
    client.type.onRequest(delta(ENDPOINTS, { subscribe: ["b"] }));
    expect(client.beat()).toEqual([[line(a), line(timed("c", "1", 1_000))]]);
    client.accept();
    expect(client.beat()).toEqual([[line(a), line(b), line(timed("c", "1", 1_000))]]);
    const second = timed("a", "2", 3_000);
    client.put(second);
    client.type.onRequest(delta(ENDPOINTS, { nonce: client.send(), error: no }));
    expect(client.beat()).toEqual([[line(b), line(timed("c", "1", 1_000))]]);
  });

  test("has what was sent out of order as it was sent, not as it is by now", () => {
    const client = new Client(["a"]);
    client.put(a, b);
    client.send();
    client.type.onRequest(delta(ENDPOINTS, { subscribe: ["b", "late", "plain"] }));
    client.put(timed("plain", "1", undefined));
    client.send();
    client.put(timed("b", "2", 9_000), timed("late", "1", 1_000), timed("plain", "2", 1_000));
    expect(client.beat()).toEqual([[line(a), line(b)]]);
  });

  test("has any number of resources, also where newer content waits", () => {
    const client = new Client(["*"]);
    const one = timed("many", "1", 3_000);
    const many = Array.from({ length: 150_000 }, (_, index) => ({ ...one, name: `many${index}` }));
    for (let i = 0; i < many.length; i += 10_000) client.put(...many.slice(i, i + 10_000));
    client.put(b);
    client.accept();
    client.put(timed("many0", "2", 3_000));
    expect(client.beat()).toEqual([expect.objectContaining({ length: 150_001 })]);
    expect(client.needs()).toEqual([[ENDPOINTS, 200]]);
  });

  test("keeps pending removals alive", () => {
    const client = new Client();
    client.put(a);
    client.accept();
    const was = timed("gone", "1", 1_000);
    const pendingRemovals = new PendingRemovals(
      new Map([
        ["gone", { was, since: 1 }],
        ["a", { since: 1 }],
      ]),
    );
    Object.assign(client.type, { pendingRemovals });
    expect(client.beat()).toEqual([[line(was)]]);
  });
});

describe("S-TTL-14: the next heartbeat is due", () => {
  test("within a third of the shortest TTL, of what there is or what the client holds", () => {
    const client = new Client();
    client.put(timed("a", "1", 3_000), timed("b", "1", 1_000));
    expect(client.needs()).toEqual([]);
    client.accept();
    expect(client.needs()).toEqual([[ENDPOINTS, 333]]);
    client.delete("b");
    expect(client.needs()).toEqual([[ENDPOINTS, 1_000]]);
    client.beat();
    expect([client.needs(), client.needs()]).toEqual([[[ENDPOINTS, 333]], [[ENDPOINTS, 1_000]]]);
  });

  test("not more often than each 100 ms, and once a day at least", () => {
    const needs = (ttlMs: number): unknown => {
      const client = new Client();
      client.put(timed("a", "1", ttlMs));
      client.accept();
      return client.needs();
    };
    const day = 24 * 60 * 60 * 1_000;
    expect([needs(30), needs(300), needs(303), needs(4 * day)]).toEqual([
      [[ENDPOINTS, 100]],
      [[ENDPOINTS, 100]],
      [[ENDPOINTS, 101]],
      [[ENDPOINTS, day]],
    ]);
  });

  test("never for clients that are not sent TTLs, or without a resource that has one", () => {
    const silent = new Client([], "not-announced");
    silent.put(timed("a", "1", 3_000));
    silent.accept();
    const without = new Client();
    without.put(timed("a", "1", undefined));
    without.accept();
    expect([silent.needs(), without.needs()]).toEqual([[], []]);
  });
});
