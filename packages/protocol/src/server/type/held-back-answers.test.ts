import { describe, expect, test } from "vitest";
import { delta, node, sotw } from "../../../test/support/conversation.ts";
import { shown, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { digest, LISTENER, ROUTE, resource, traits } from "../../../test/support/resources.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { Variant } from "../../message/variant.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { DeltaTypeStream } from "./delta.ts";
import type { HeldBackNames } from "./held-back.ts";
import { SotwTypeStream } from "./sotw.ts";
import type { TypeStream, TypeStreamOptions } from "./type-stream.ts";

const removable = { to: Infinity, namedTo: Infinity, goesAtOnce: undefined };
const no = { code: 3, message: "no" };
const nothing = new Map();

/** One type of a client that subscribes to some names; it ACKs each answer unless it says otherwise. */
class Client {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest);
  readonly current: CurrentView = new CurrentViews(this.responses).of(viewOf(this.base));
  readonly type: TypeStream;
  readonly #url: TypeUrl;
  readonly #variant: Variant;
  #names: readonly string[];
  #revision = 0;
  #nonce = 0;

  constructor(variant: Variant, url: TypeUrl, ...names: readonly string[]) {
    const known = traits(url);
    if (known === undefined) throw new Error(`no traits of ${url}`);
    const options: TypeStreamOptions = {
      ...{ traits: known, dialect: dialectFor(node("n")), isUnknown: false, isAggregated: true },
      ttl: "not-announced",
      cameAfterOwner: false,
    };
    this.type = variant === "delta" ? new DeltaTypeStream(options) : new SotwTypeStream(options);
    this.#variant = variant;
    this.#url = url;
    this.#names = names;
    this.ask(...names);
  }

  one(name: string, label: string): Resource {
    return resource(this.#url, name, label);
  }

  putOne(name: string, label: string): void {
    this.base.put(++this.#revision, this.one(name, label));
    this.responses.advance(this.#revision, undefined);
  }

  put(...names: readonly string[]): void {
    this.base.put(++this.#revision, ...names.map((text) => this.one(text.charAt(0), text.slice(1))));
    this.responses.advance(this.#revision, undefined);
  }

  /** Subscribes to these names too; in State of the World the request lists them all. */
  ask(...names: readonly string[]): void {
    this.#names = [...new Set([...this.#names, ...names])];
    const nonce = this.#nonce === 0 ? undefined : String(this.#nonce);
    const request =
      this.#variant === "delta"
        ? delta(this.#url, { subscribe: names })
        : sotw(this.#url, { names: this.#names, nonce });
    this.type.onRequest(request);
  }

  /** What is sent while these names are held back, in short. */
  flush(heldBack: HeldBackNames = nothing): readonly (readonly string[])[] {
    const answers = this.type.next(this.current, { removable, heldBack });
    return answers.map(({ body, isInOrder: isInTurn }) => {
      const { revision } = this.current;
      const from = this.type.position?.revision;
      this.type.deliveries.open({ nonce: String(++this.#nonce), body, revision, from, at: 1, isInTurn });
      return body.segments.flatMap(({ puts, removed }) => [
        ...puts.map(shown).sort(),
        ...removed.map((one) => `-${one}`),
      ]);
    });
  }

  ack(error?: typeof no): this {
    const nonce = String(this.#nonce);
    const names = this.#names;
    this.type.onRequest(
      this.#variant === "delta" ? delta(this.#url, { nonce, error }) : sotw(this.#url, { nonce, names, error }),
    );
    return this;
  }

  /** Whether the newest answer has the version that everybody has who was sent everything. */
  get hasCommonVersion(): boolean {
    return this.type.deliveries.lastSent?.body.version === this.current.view.typeVersion(this.#url);
  }
}

const hold = (...names: readonly string[]): HeldBackNames => new Map(names.map((name) => [name, undefined]));
const variants = ["delta", "sotw"] as const;

describe.each(variants)("S-ORD-06: routes that are held back, in %s", (variant) => {
  const routes = (...names: readonly string[]): Client => {
    const client = new Client(variant, ROUTE, ...names);
    client.put("a1", "b1");
    return client;
  };

  test("are left out of the first answer, which is none if it has nothing else, and follow once they are let go", () => {
    const client = routes("a", "b");
    expect([client.flush(hold("a")), client.ack().flush(hold("a"))]).toEqual([[["b@1"]], []]);
    expect([client.flush(), client.ack().flush()]).toEqual([[["a@1"]], []]);
    const both = routes("a", "b");
    expect([both.flush(hold("a", "b")), both.flush(hold("b")), both.ack().flush()]).toEqual([[], [["a@1"]], [["b@1"]]]);
  });

  test("may be sent as they were before, at first and later", () => {
    const client = routes("a", "b");
    const target = (label: string): HeldBackNames =>
      new Map([["a", { resource: client.one("a", label), revision: 0 }]]);
    expect(client.flush(target("0"))).toEqual([["a@0", "b@1"]]);
    client.put("a3", "b2");
    expect(client.ack().flush(target("2"))).toEqual([["a@2", "b@2"]]);
    expect(client.ack().flush()).toEqual([["a@3"]]);
    expect(client.ack().flush()).toEqual([]);
  });

  test("keep nothing else back, and are not sent at all if they are again as the client has them", () => {
    const client = routes("a", "b");
    client.flush();
    client.ack().put("a2", "b2");
    expect(client.flush(hold("a"))).toEqual([["b@2"]]);
    client.ack().put("b3");
    expect(client.flush(hold("a"))).toEqual([["b@3"]]);
    client.ack().put("a1");
    expect(client.flush()).toEqual([]);
    client.put("a2");
    expect(client.flush(hold("a"))).toEqual([]);
    expect(client.flush()).toEqual([["a@2"]]);
  });

  test("are answered when they are let go if they were asked for meanwhile, whether or not an answer is in flight", () => {
    const client = routes("a", "b");
    client.flush();
    client.ack().put("c1", "d1");
    client.ask("c", "d");
    expect([client.flush(hold("c")), client.ack().flush(hold("c"))]).toEqual([[["d@1"]], []]);
    expect([client.flush(), client.ack().flush()]).toEqual([[["c@1"]], []]);
    client.put("a2", "e1", "f1");
    expect(client.flush()).toEqual([["a@2"]]);
    client.ask("e", "f", "x");
    expect(client.flush(hold("e"))).toEqual(variant === "delta" ? [["f@1", "-x"]] : [["f@1"]]);
    expect(client.flush(hold("e"))).toEqual([]);
    client.ack();
    expect(client.flush(hold("e"))).toEqual([]);
    expect([client.flush(), client.ack().flush()]).toEqual([[["e@1"]], []]);
  });
});

describe.each(variants)("B-XTP-05: a member of a collection that is held back, in %s", (variant) => {
  const collection = "xdstp://x/envoy.config.route.v3.RouteConfiguration/d";
  const [held, other] = [`${collection}/a`, `${collection}/b`];

  test.each([
    ["while nothing is in flight", true],
    ["while an answer is in flight", false],
  ])("leaves its collection to be answered once more: asked for %s", (_, isSettled) => {
    const client = new Client(variant, ROUTE, "r");
    client.putOne("r", "1");
    client.flush();
    if (isSettled) client.ack();
    client.putOne(held, "1");
    client.putOne(other, "1");
    client.ask(`${collection}/*`);
    expect(client.flush(hold(held))).toEqual([[`${other}@1`]]);
    client.ack();
    expect(client.flush(hold(held)).flat()).not.toContain(`${held}@1`);
    client.ack();
    expect(client.flush().flat()).toContain(`${held}@1`);
    expect(client.ack().flush()).toEqual([]);
  });
});

describe("S-ORD-06: Listeners that are held back, in State of the World", () => {
  const listeners = (): Client => {
    const client = new Client("sotw", LISTENER);
    client.put("a1", "b1");
    client.flush();
    return client.ack();
  };

  test("stay as the client has them in what it is sent, under a version of its own", () => {
    const client = listeners();
    client.put("a2", "b2", "c2");
    expect([client.flush(hold("a", "c")), client.hasCommonVersion]).toEqual([[["a@1", "b@2"]], false]);
    expect(client.ack().flush(hold("a", "c"))).toEqual([]);
    expect([client.flush(hold("c")), client.hasCommonVersion]).toEqual([[["a@2", "b@2"]], false]);
    expect([client.ack().flush(), client.hasCommonVersion]).toEqual([[["a@2", "b@2", "c@2"]], true]);
  });

  test("may be sent as they were in between", () => {
    const client = listeners();
    client.put("a3");
    const target = new Map([["a", { resource: client.one("a", "2"), revision: 1 }]]);
    expect([client.flush(target), client.hasCommonVersion]).toEqual([[["a@2", "b@1"]], false]);
    expect([client.ack().flush(target), client.flush(), client.hasCommonVersion]).toEqual([
      ...[[], [["a@3", "b@1"]], true],
    ]);
  });

  test("are left out of the first answer", () => {
    const client = new Client("sotw", LISTENER);
    client.put("a1", "b1");
    expect([client.flush(hold("a")), client.ack().flush()]).toEqual([[["b@1"]], [["a@1", "b@1"]]]);
    const none = new Client("sotw", LISTENER);
    none.put("a1");
    expect([none.flush(hold("a")), none.flush()]).toEqual([[], [["a@1"]]]);
  });

  test("leave an answer to whoever asks, though nothing else changed", () => {
    const client = new Client("sotw", LISTENER, "a");
    client.put("a1", "b1", "c1");
    client.flush();
    client.ack().put("a2");
    client.ask("b");
    expect(client.flush(hold("a"))).toEqual([["a@1", "b@1"]]);
    client.ack();
    client.ask("x");
    expect(client.flush(hold("a"))).toEqual([["a@1", "b@1"]]);
    expect(client.ack().flush(hold("a"))).toEqual([]);
    client.ask("*");
    expect(client.flush(hold("a"))).toEqual([["a@1", "b@1", "c@1"]]);
  });
});
