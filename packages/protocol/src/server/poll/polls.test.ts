import type { Node, Peer, TypeUrl } from "@xdskit/protocol";
import { describe, expect, test } from "vitest";
import { node, sotw } from "../../../test/support/conversation.ts";
import { CLUSTER, digest, ENDPOINTS, LISTENER, resource, traits } from "../../../test/support/resources.ts";
import { type AccessClaim, type AccessPolicy, openAccess, wholeGrant } from "../../access/access-policy.ts";
import { statusCode } from "../../message/status.ts";
import type { ServerEffect } from "../contract/effect.ts";
import type { ServerMachineOptions } from "../contract/server-machine-options.ts";
import { ServerMachine } from "../server-machine.ts";

const peer: Peer = { address: "10.0.0.1:1", isLoopback: false, isTls: true, names: [] };

/** A server that is polled by node n, whose layers the test says. */
class Polled {
  layers: readonly string[] = ["base"];
  readonly machine: ServerMachine;
  #last = 0;

  constructor(options: Partial<ServerMachineOptions> = {}) {
    this.machine = new ServerMachine({ digest, traits, nodeMapping: () => this.layers, ...options });
    const put = { layer: "base", puts: [resource(CLUSTER, "a", "1")] };
    this.machine.on({ kind: "transaction-committed", transaction: { changes: [put] } });
  }

  /** Polls for everything of a type; returns what became of it, and what was reported. */
  poll(type: TypeUrl = CLUSTER, by: Node = node("n"), versionInfo?: string): readonly string[] {
    const request = sotw(type, { node: by, versionInfo });
    const event = { kind: "poll-received", poll: ++this.#last, peer, type, holdMs: 500, apiVersion: "v3" } as const;
    return [...this.machine.on({ ...event, request }), ...this.turns()].flatMap(inShort);
  }

  turns(): readonly ServerEffect[] {
    const effects: ServerEffect[] = [];
    while (this.machine.isDue) effects.push(...this.machine.next(1));
    return effects;
  }

  /** Maps all nodes again. */
  place(...layers: readonly string[]): readonly string[] {
    this.layers = layers;
    const nodeMapping = (): readonly string[] => this.layers;
    return [...this.machine.on({ kind: "transaction-committed", nodeMapping }), ...this.turns()].flatMap(inShort);
  }
}

function inShort(effect: ServerEffect): readonly string[] {
  if (effect.kind === "report") {
    const { report } = effect;
    return [report.kind === "node-moved" ? `node-moved to ${report.layers.join()}` : report.kind];
  }
  if (effect.kind === "refuse-poll") return [`refused with ${effect.status.code}`];
  return effect.kind === "answer-poll" || effect.kind === "poll-unchanged" ? [effect.kind] : [];
}

describe("S-DEL-08: a poller whose node is mapped to other layers", () => {
  test("moves there, and its waiting polls go on there", () => {
    const polled = new Polled();
    polled.poll();
    const { sentVersion } = [...polled.machine.streams()][0]?.types[0] ?? {};
    expect(polled.poll(CLUSTER, node("n"), sentVersion)).toEqual(["request-classified", "response-acked"]);
    expect(polled.place("top", "base")).toEqual(["node-moved to top,base"]);
    expect(polled.place("top", "base")).toEqual([]);
    expect(polled.place("other")).toEqual(["node-moved to other", "answer-poll", "response-sent"]);
    expect([...polled.machine.streams()].map(({ layers }) => layers)).toEqual([["other"]]);
  });

  test("without notice moves there with its next poll", () => {
    const polled = new Polled();
    polled.poll();
    polled.layers = ["other", "base"];
    expect(polled.poll().slice(0, 1)).toEqual(["node-moved to other,base"]);
    expect([...polled.machine.streams()].map(({ layers }) => layers)).toEqual([["other", "base"]]);
  });

  test("and is not served any more has its waiting polls refused", () => {
    const polled = new Polled();
    polled.poll();
    const { sentVersion } = [...polled.machine.streams()][0]?.types[0] ?? {};
    polled.poll(CLUSTER, node("n"), sentVersion);
    const nodeMapping = (): { readonly refused: string } => ({ refused: "not here" });
    const effects = polled.machine.on({ kind: "transaction-committed", nodeMapping });
    expect(effects.flatMap(inShort)).toEqual([`refused with ${statusCode.PERMISSION_DENIED}`]);
  });
});

test("each poller is described by itself, under the number of its first poll", () => {
  const polled = new Polled();
  polled.poll(CLUSTER, node("n"));
  polled.poll(CLUSTER, node("n"));
  polled.poll(ENDPOINTS, node("m"));
  const described = [1, 3, 2].map((id) => polled.machine.streamState(id));
  expect(described).toEqual([...polled.machine.streams(), undefined]);
  expect(described.map((one) => one && [one.node?.id, one.onlyType, one.isPoller])).toEqual([
    ["n", CLUSTER, true],
    ["m", ENDPOINTS, true],
    undefined,
  ]);
});

describe("S-ACC-08: a poll", () => {
  test("is judged as one over REST, and refused for a type that it may not have", () => {
    const claims: AccessClaim[] = [];
    const access: AccessPolicy = {
      ...openAccess,
      grant: (claim) => {
        claims.push(claim);
        const visible = (_: string, type: TypeUrl): "all" | "none" => (type === LISTENER ? "none" : "all");
        return claim.node?.id === "n" ? { ...wholeGrant, key: "k", isWhole: false, visible } : { denied: "no rule" };
      },
    };
    const polled = new Polled({ access });
    expect([polled.poll(ENDPOINTS), polled.poll(LISTENER), polled.poll(CLUSTER, node("m"))]).toEqual([
      ["poller-met", "node-connected", "request-classified", "answer-poll", "response-sent"],
      ["access-denied", `refused with ${statusCode.PERMISSION_DENIED}`],
      ["access-denied", `refused with ${statusCode.UNAUTHENTICATED}`],
    ]);
    expect(claims.map(({ entryPoint, node: by }) => [entryPoint, by?.id])).toEqual([
      ["rest", "n"],
      ["rest", "n"],
      ["rest", "m"],
    ]);
  });

  test("of more names than a stream may have is refused, and so is one without a node where that is needed", () => {
    const polled = new Polled({ maxSubscriptionsPerStream: 1, dialect: { requireNode: true } });
    const refused = (names: readonly string[], by: Node | undefined): unknown =>
      polled.machine
        .on({
          ...{ kind: "poll-received", poll: 9, peer, type: CLUSTER, holdMs: 0, apiVersion: "v3" },
          request: sotw(CLUSTER, { node: by, names }),
        })
        .flatMap((effect) => (effect.kind === "refuse-poll" ? [effect.status] : []));
    expect([refused(["a"], node("n")), refused(["a", "b"], node("n")), refused([], undefined)]).toEqual([
      [],
      [{ code: statusCode.RESOURCE_EXHAUSTED, message: "asks for 2 names; at most 1 in one poll are served" }],
      [{ code: statusCode.INVALID_ARGUMENT, message: "a poll needs a node" }],
    ]);
  });
});
