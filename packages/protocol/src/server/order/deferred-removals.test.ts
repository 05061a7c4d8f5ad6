import { describe, expect, test } from "vitest";
import { delta, node, sotw } from "../../../test/support/conversation.ts";
import { shown, viewOf, WrittenLayer } from "../../../test/support/layers.ts";
import {
  CLUSTER,
  digest,
  ENDPOINTS,
  EXTENSION,
  LISTENER,
  plain,
  ROUTE,
  resource,
  traits,
} from "../../../test/support/resources.ts";
import { toldAtOnce } from "../../../test/support/type-streams.ts";
import type { Dialect } from "../../dialect/dialect.ts";
import { dialectFor } from "../../dialect/presets.ts";
import type { DiscoveryRequest } from "../../message/request.ts";
import type { Variant } from "../../message/variant.ts";
import type { Resource } from "../../resource/resource.ts";
import type { TypeUrl } from "../../resource/type-url.ts";
import { type CurrentView, CurrentViews } from "../cache/current-view.ts";
import type { Removable } from "../cache/pending-removals.ts";
import { ServedVersions } from "../cache/served.ts";
import { SharedResponses } from "../cache/shared-responses.ts";
import { DeltaTypeStream } from "../type/delta.ts";
import { nothingHeldBack } from "../type/held-back.ts";
import { SotwTypeStream } from "../type/sotw.ts";
import { DeferredRemovals } from "./deferred-removals.ts";

const upTo = (to: number, more: Partial<Removable> = {}): Removable => ({
  ...{ to, namedTo: to, goesAtOnce: undefined, ...more },
});

/** A client of Clusters that are removed last; responses are ACKed as soon as they are sent, unless the test says not. */
class Client {
  readonly base: WrittenLayer;
  readonly responses: SharedResponses;
  readonly current: CurrentView;
  readonly type: DeferredRemovals;
  readonly #variant: Variant;
  readonly #url: TypeUrl;
  #revision = 1;
  #lastNonce = 0;
  #names: readonly string[];

  constructor(
    variant: Variant,
    {
      names = ["*"],
      url = CLUSTER,
      versionInfo,
      served = new ServedVersions({ listsNews: false }),
      base = new WrittenLayer("base", [plain("a"), plain("b")], 1, true),
    }: {
      readonly names?: readonly string[];
      readonly url?: TypeUrl;
      readonly versionInfo?: string;
      readonly served?: ServedVersions;
      readonly base?: WrittenLayer;
    } = {},
  ) {
    const known = traits(url);
    if (known === undefined) throw new Error(`no traits of ${url}`);
    const options = {
      ...{ traits: known, dialect: dialectFor(node("n")), isUnknown: false, isAggregated: true },
      ...{ ttl: "not-announced" as const, cameAfterOwner: false },
    };
    const machine = variant === "delta" ? new DeltaTypeStream(options) : new SotwTypeStream(options);
    this.#variant = variant;
    this.#url = url;
    this.#names = names;
    this.base = base;
    this.responses = new SharedResponses(digest, { served });
    this.responses.advance(1, undefined);
    this.current = new CurrentViews(this.responses).of(viewOf(this.base));
    this.type = new DeferredRemovals(variant, machine);
    this.type.onRequest(this.#request(versionInfo === undefined ? {} : { versionInfo }));
  }

  #request(what: { readonly nonce?: string; readonly versionInfo?: string }): DiscoveryRequest {
    if (this.#variant === "sotw") return sotw(this.#url, { ...what, names: this.#names });
    return delta(this.#url, what.nonce === undefined ? { subscribe: this.#names } : { nonce: what.nonce });
  }

  put(...puts: readonly Resource[]): void {
    this.base.put(++this.#revision, ...puts);
    this.responses.advance(this.#revision, undefined);
  }

  drop(...names: readonly string[]): void {
    for (const name of names) this.base.tableFor(this.#url).delete(name, this.#revision + 1);
    this.responses.advance(++this.#revision, undefined);
  }

  /** What is sent if this may be removed, in short. */
  flush(removable: Removable, isAnswered = true): readonly string[] {
    const answers = this.type.next(this.current, {
      removable: () => removable,
      heldBack: nothingHeldBack,
      absences: toldAtOnce,
    });
    for (const { body, isInOrder } of answers) {
      const nonce = String(++this.#lastNonce);
      const { revision } = this.current;
      this.type.deliveries.open({ nonce, body, revision, from: revision - 1, at: revision, isInTurn: isInOrder });
      if (isAnswered) this.accept(nonce);
    }
    return answers.map(({ body }) =>
      body.segments
        .flatMap(({ puts, removed, missing }) => [
          ...puts.map(shown),
          ...removed.map((name) => `-${name}`),
          ...missing.map((name) => `?${name}`),
        ])
        .join(" "),
    );
  }

  accept(nonce = String(this.#lastNonce)): void {
    this.type.onRequest(this.#request({ nonce }));
  }

  list(...names: readonly string[]): void {
    this.#names = names;
    this.accept();
  }

  get pending(): readonly string[] {
    return [...this.type.pendingRemovals.names].map(([name, { since }]) => `${name} since ${since}`);
  }
}

test("S-ORD-05: Clusters are removed last, and in delta their endpoints", () => {
  const isFor = (type: TypeUrl, userAgentName = "", over: Partial<Dialect> = {}): unknown =>
    (["sotw", "delta"] as const).map((variant) => {
      const known = traits(type);
      return known && DeferredRemovals.isFor(known, variant, { ...dialectFor(node("n", userAgentName)), ...over });
    });
  expect([isFor(CLUSTER), isFor(ENDPOINTS), isFor(LISTENER)]).toEqual([
    [true, true],
    [false, true],
    [false, false],
  ]);
  expect([isFor(EXTENSION), isFor(EXTENSION, "envoy")]).toEqual([
    [false, false],
    [false, false],
  ]);
  const everywhere = { deltaRemovals: { otherwise: "when-unreferenced" } } as const;
  expect([isFor(ROUTE, "", everywhere), isFor(LISTENER, "", everywhere)]).toEqual([
    [false, true],
    [false, false],
  ]);
  const [clusters, endpoints] = [new Client("delta").type, new Client("delta", { url: ENDPOINTS }).type];
  expect([clusters.areClusters, endpoints.areClusters, clusters.deferredRemovals === clusters]).toEqual([
    true,
    false,
    true,
  ]);
});

describe.each(["delta", "sotw"] as const)("S-ORD-05: in %s a deleted Cluster", (variant) => {
  const isDelta = variant === "delta";

  test("stays until it may be removed", () => {
    const client = new Client(variant);
    expect([client.flush(upTo(0)), client.pending]).toEqual([["a@1 b@1"], []]);
    client.drop("a");
    expect([client.flush(upTo(1)), client.pending]).toEqual([[], ["a since 2"]]);
    client.put(plain("b", "2"));
    expect(client.flush(upTo(1))).toEqual([isDelta ? "b@2" : "b@2 a@1"]);
    expect([client.flush(upTo(1)), client.flush(upTo(2)), client.pending]).toEqual([[], [isDelta ? "-a" : "b@2"], []]);
    expect(client.flush(upTo(9))).toEqual([]);
  });

  test("goes with the change that deletes it if it may", () => {
    const client = new Client(variant);
    client.flush(upTo(0));
    client.drop("a");
    expect([client.flush(upTo(2)), client.pending]).toEqual([[isDelta ? "-a" : "b@1"], []]);
  });

  test("goes at once if nothing that the client was sent uses it", () => {
    const client = new Client(variant);
    client.flush(upTo(0));
    client.drop("a", "b");
    const goesAtOnce = (name: string): boolean => name === "a";
    expect([client.flush(upTo(1, { goesAtOnce })), client.pending]).toEqual([[isDelta ? "-a" : "b@1"], ["b since 2"]]);
  });

  test("is none any more if it exists again; if it is deleted once more, that counts", () => {
    const client = new Client(variant);
    client.flush(upTo(0));
    client.drop("a");
    client.flush(upTo(1));
    client.put(plain("a", "3"));
    expect([client.flush(upTo(1)), client.pending]).toEqual([[isDelta ? "a@3" : "b@1 a@3"], []]);
    client.drop("a");
    client.flush(upTo(1));
    client.put(plain("a", "5"));
    client.drop("a");
    client.flush(upTo(1));
    expect(client.pending).toEqual(["a since 6"]);
  });

  test("waits for the ACK of what was sent before", () => {
    const client = new Client(variant);
    client.flush(upTo(0));
    client.drop("a");
    client.flush(upTo(1));
    client.put(plain("b", "2"));
    client.flush(upTo(1), false);
    expect([client.type.isWaiting(client.current.view), client.flush(upTo(2)), client.pending]).toEqual([
      true,
      [],
      ["a since 2"],
    ]);
    client.accept();
    expect([client.type.isWaiting(client.current.view), client.flush(upTo(2))]).toEqual([
      false,
      [isDelta ? "-a" : "b@2"],
    ]);
  });

  test("that the client subscribes to by name is waited for until it gives the name up", () => {
    const client = new Client(variant, { names: ["a", "b"] });
    client.flush(upTo(0));
    client.drop("a");
    expect([client.flush(upTo(2, { namedTo: 1 })), client.pending, client.type.unreleased]).toEqual([
      [],
      ["a since 2"],
      "a",
    ]);
    if (isDelta) client.type.onRequest(delta(CLUSTER, { unsubscribe: ["a"] }));
    else client.list("b");
    expect([client.pending, client.type.unreleased]).toEqual([[], undefined]);
  });

  test("that the client subscribes to by name goes if the wait timed out, or something still refers to it", () => {
    const dropped = (removable: Removable, ...puts: readonly Resource[]): unknown => {
      const client = new Client(variant, { names: ["a", "b"] });
      client.put(...puts);
      client.flush(upTo(0));
      client.drop("a");
      client.flush(removable);
      return client.pending;
    };
    const user = resource(LISTENER, "l", "1", { references: [{ type: CLUSTER, name: "a" }] });
    const goesAtOnce = (name: string): boolean => name === "a";
    expect([
      dropped(upTo(3, { namedTo: 2 })),
      dropped(upTo(3)),
      dropped(upTo(3, { namedTo: 2 }), user),
      dropped(upTo(3, { namedTo: 2, goesAtOnce })),
    ]).toEqual([["a since 3"], [], [], []]);
  });

  test("has no name to give up under a wildcard", () => {
    const client = new Client(variant);
    client.flush(upTo(0));
    client.drop("a");
    client.flush(upTo(1));
    expect(client.type.unreleased).toBeUndefined();
  });
});

describe("S-ORD-05: in delta", () => {
  test("the first answer to a wildcard is due even if it is empty", () => {
    const client = new Client("delta", { base: new WrittenLayer("base") });
    expect(client.flush(upTo(0))).toEqual([""]);
  });

  test("the absence of a name that was asked for is answered at once", () => {
    const client = new Client("delta", { names: ["a"] });
    client.flush(upTo(0));
    client.type.onRequest(delta(CLUSTER, { subscribe: ["none"] }));
    expect([client.flush(upTo(0)), client.pending]).toEqual([["-none"], []]);
  });

  test("endpoints go in their time too, whatever warms", () => {
    const base = new WrittenLayer("base", [resource(ENDPOINTS, "a", "1"), resource(ENDPOINTS, "b", "1")]);
    const client = new Client("delta", { url: ENDPOINTS, names: ["a", "b"], base });
    client.flush(upTo(0));
    client.drop("a");
    expect([client.flush(upTo(1, { goesAtOnce: () => true })), client.pending]).toEqual([[], ["a since 2"]]);
    expect(client.flush(upTo(2, { namedTo: 0 }))).toEqual(["-a"]);
  });

  test("a name of a deleted Cluster that the client did not subscribe to may be that of its alias", () => {
    const base = new WrittenLayer("base", [{ ...plain("a"), aliases: ["x"] }, plain("b")]);
    const client = new Client("delta", { names: ["x", "b"], base });
    client.flush(upTo(0));
    client.drop("a");
    client.flush(upTo(0));
    expect(client.pending).toEqual(["a since 2"]);
    client.type.onRequest(delta(CLUSTER, { unsubscribe: ["b"] }));
    expect(client.pending).toEqual(["a since 2"]);
    client.type.onRequest(delta(CLUSTER, { unsubscribe: ["x"] }));
    expect(client.pending).toEqual([]);
  });
});

describe("S-ORD-05: in State of the World a client that reconnects with a version", () => {
  /** A client that reconnects after Cluster a was deleted and c was added. `version`: what it reports. */
  function reconnected(
    version: (sent: { readonly first: string; readonly now: string }) => string,
    names = ["*"],
  ): unknown {
    const served = new ServedVersions({ listsNews: false });
    const before = new Client("sotw", { served });
    before.flush(upTo(0));
    const first = before.current.view.typeVersion(CLUSTER);
    before.drop("a");
    before.put(plain("c"));
    const now = before.current.view.typeVersion(CLUSTER);
    const { base } = before;
    const client = new Client("sotw", { served, base, names, versionInfo: version({ first, now }) });
    client.responses.advance(3, undefined);
    const [answer] = client.type.next(client.current, {
      ...{ removable: () => upTo(0), heldBack: nothingHeldBack, absences: toldAtOnce },
    });
    const newToClient = answer?.newToClient;
    return [
      answer?.body.segments.flatMap(({ puts }) => puts.map(shown)).join(" "),
      newToClient instanceof Set ? [...newToClient] : newToClient,
      client.pending,
    ];
  }

  test("still holds what is deleted since, as far as it asks for it, and lacks what is new", () => {
    expect([reconnected(({ first }) => first), reconnected(({ first }) => first, ["b", "c"])]).toEqual([
      ["b@1 c@1 a@1", ["c"], ["a since 3"]],
      ["b@1 c@1", ["c"], []],
    ]);
  });

  test("holds an unknown set if the version is unknown, and the present one if it is that", () => {
    expect([reconnected(() => "strange"), reconnected(({ now }) => now)]).toEqual([
      ["b@1 c@1", "unknown", []],
      ["b@1 c@1", undefined, []],
    ]);
  });
});
