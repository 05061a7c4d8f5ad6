import { describe, expect, test } from "vitest";
import { delta, node, sotw } from "../../../test/support/conversation.ts";
import { shown, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import { CLUSTER, digest, ENDPOINTS, HOST, resource, traits } from "../../../test/support/resources.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { Variant } from "../../message/variant.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { DeltaTypeStream } from "./delta.ts";
import { nothingHeldBack } from "./held-back.ts";
import { SotwTypeStream } from "./sotw.ts";
import type { TypeStream } from "./type-stream.ts";

const everything = { removable: { to: Infinity, namedTo: Infinity, goesAtOnce: undefined }, heldBack: nothingHeldBack };

/** A client of a type, of which a and b exist; it ACKs whatever it is sent. */
class Client {
  readonly base = new WrittenLayer("base");
  readonly responses = new SharedResponses(digest);
  readonly current: CurrentView = new CurrentViews(this.responses).of(viewOf(this.base));
  readonly type: TypeStream;
  readonly #variant: Variant;
  readonly #url: TypeUrl;
  #nonce = 0;

  constructor(variant: Variant, url: TypeUrl, names: readonly string[]) {
    const known = traits(url);
    if (known === undefined) throw new Error(`no traits of ${url}`);
    const options = {
      ...{ traits: known, dialect: dialectFor(node("n")), isUnknown: false, isAggregated: true },
      ...{ ttl: "not-announced" as const, cameAfterOwner: false },
    };
    this.type = variant === "delta" ? new DeltaTypeStream(options) : new SotwTypeStream(options);
    this.#variant = variant;
    this.#url = url;
    this.put(1, "a", "b");
    this.ask(names);
  }

  put(revision: number, ...names: readonly string[]): void {
    this.base.put(revision, ...names.map((name) => resource(this.#url, name, String(revision), { references: [] })));
    this.responses.advance(revision, undefined);
  }

  ask(names: readonly string[], nonce?: string): void {
    this.type.onRequest(
      this.#variant === "delta" ? delta(this.#url, { subscribe: names, nonce }) : sotw(this.#url, { names, nonce }),
    );
  }

  /** What is new to the client in what is sent now. */
  news(names: readonly string[] = []): unknown {
    const [answer] = this.type.next(this.current, everything);
    if (answer === undefined) return "nothing";
    const nonce = String(++this.#nonce);
    const { revision } = this.current;
    this.type.deliveries.open({
      nonce,
      body: answer.body,
      revision,
      from: undefined,
      at: 1,
      isInTurn: answer.isInOrder,
    });
    this.ask(this.#variant === "delta" ? [] : names, nonce);
    return [...new Set(answer.news.flat().map(shown))].sort();
  }
}

describe.each(["delta", "sotw"] as const)("S-WRM-08: in %s what an answer brings makes others resent", (variant) => {
  test.each([
    ["a full-state type", CLUSTER],
    ["another type", ENDPOINTS],
  ])("of %s: everything at first, then what changed or was asked for", (_, url) => {
    const client = new Client(variant, url, ["a", "b"]);
    expect(client.news(["a", "b"])).toEqual(["a@1", "b@1"]);
    expect(client.news()).toBe("nothing");
    client.put(2, "a");
    expect(client.news(["a", "b"])).toEqual(["a@2"]);
    client.put(3, "c");
    client.ask(["a", "b", "c"], "2");
    const asked = variant === "delta" ? ["a@2", "b@1", "c@3"] : ["c@3"];
    expect(client.news(["a", "b", "c"])).toEqual(asked);
  });

  test("of a wildcard: everything at first, then what changed", () => {
    const client = new Client(variant, CLUSTER, ["*"]);
    expect(client.news(["*"])).toEqual(["a@1", "b@1"]);
    client.put(2, "b", "c");
    expect(client.news(["*"])).toEqual(["b@2", "c@2"]);
  });
});

describe.each(["delta", "sotw"] as const)("S-ORD-06: in %s resources of a type are held back one by one", (variant) => {
  const can = ({ type }: Client): unknown => [type.canHoldBack, type.canTellTargets];

  test("once the client was sent some, and older states are sent in their place from the beginning", () => {
    const client = new Client(variant, CLUSTER, ["*"]);
    expect(can(client)).toEqual([false, true]);
    client.news(["*"]);
    expect(can(client)).toEqual([true, true]);
  });

  test("and virtual hosts, which exist in delta alone", () => {
    const client = new Client(variant, HOST, ["a"]);
    client.news(["a"]);
    expect(can(client)).toEqual(variant === "delta" ? [true, true] : [false, false]);
  });
});
