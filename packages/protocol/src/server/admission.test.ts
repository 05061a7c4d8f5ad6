import { describe, expect, test } from "vitest";
import { type Conversation, delta, node, says, talkWith } from "../../test/support/conversation.ts";
import { CLUSTER, ENDPOINTS, LISTENER, plain, ROUTE, resource, traits } from "../../test/support/resources.ts";
import { type AccessGrant, type AccessPolicy, openAccess, wholeGrant } from "../access/access-policy.ts";
import type { DeltaRequest } from "../message/request.ts";
import { statusCode } from "../message/status.ts";
import type { NodeMapping, Peer } from "../node/node-mapping.ts";
import { formatTypeUrl } from "../resource/type-url.ts";
import { Admission, deniedCode, entryPointOf, isOtherNode, nodeDenied, typeDenied } from "./admission.ts";
import type { StreamOpened } from "./contract/event.ts";
import type { ServerMachineOptions } from "./contract/server-machine-options.ts";

const CLUSTER_V2 = formatTypeUrl("envoy.api.v2.Cluster");
const peer: Peer = { address: "192.0.2.1:1", isLoopback: false, isTls: false, names: [] };
const known: Peer = { ...peer, certificate: { commonName: "c", uris: [], dnsNames: [], validTo: new Date(0) } };
const opened = (onlyType: StreamOpened["onlyType"]): StreamOpened => ({
  kind: "stream-opened",
  stream: 1,
  variant: "delta",
  onlyType,
  apiVersion: "v3",
  peer,
  connection: 1,
});
const admission = new Admission(
  {
    // Clusters have a twin, as a type of v2 has one in v3.
    traits: (type) => {
      const described = traits(type);
      return described?.kind === "cds" ? { ...described, twin: ROUTE } : described;
    },
    nodeMapping: () => ["base"],
  },
  () => true,
);

describe("B-TYP-02 S-TYP-04 S-TYP-05 S-TYP-06: the type of a request", () => {
  const typeOf = (
    onlyType: StreamOpened["onlyType"],
    type: StreamOpened["onlyType"],
    ...carried: readonly (typeof CLUSTER)[]
  ): unknown => {
    const request = { ...delta(CLUSTER, {}), type };
    return admission.typeOf(opened(onlyType), request, new Map(carried.map((one) => [one, 1])));
  };
  const refused = (message: string): unknown => ({ refused: { code: 3, message } });

  test("is its own on an aggregated stream, and none is a mistake", () => {
    expect([typeOf(undefined, ENDPOINTS, CLUSTER), typeOf(undefined, undefined, CLUSTER)]).toEqual([
      ENDPOINTS,
      refused("a request on an aggregated stream needs a type_url"),
    ]);
  });

  test("is that of its method on a stream for one type, or the twin of that, for the life of the stream", () => {
    expect(admission.typeOf(opened(CLUSTER), { ...delta(CLUSTER, {}), type: undefined }, undefined)).toBe(CLUSTER);
    expect([typeOf(CLUSTER, undefined), typeOf(CLUSTER, ROUTE), typeOf(CLUSTER, undefined, ROUTE)]).toEqual([
      CLUSTER,
      ROUTE,
      ROUTE,
    ]);
    expect([typeOf(CLUSTER, CLUSTER, CLUSTER), typeOf(CLUSTER, CLUSTER, ROUTE)]).toEqual([
      CLUSTER,
      refused(
        "this stream carries envoy.config.route.v3.RouteConfiguration for its life, not envoy.config.cluster.v3.Cluster",
      ),
    ]);
    const served = "envoy.config.cluster.v3.Cluster or envoy.config.route.v3.RouteConfiguration";
    const endpoints = "envoy.config.endpoint.v3.ClusterLoadAssignment";
    expect([typeOf(CLUSTER, ENDPOINTS), typeOf(ENDPOINTS, ROUTE)]).toEqual([
      refused(`this method serves ${served}, not ${endpoints}`),
      refused(`this method serves ${endpoints}, not envoy.config.route.v3.RouteConfiguration`),
    ]);
  });
});

test("S-ACC-20: a client comes in by a fetch, an aggregated stream, or one for a type", () => {
  const ways = [{ onlyType: undefined }, { onlyType: CLUSTER }, { onlyType: CLUSTER, isFetch: true }];
  expect(ways.map(entryPointOf)).toEqual(["ads", "stream", "fetch"]);
});

test("S-ACC-08: who may not be its node may try with a certificate; with one it may not", () => {
  expect([deniedCode(peer), deniedCode(known)]).toEqual([16, 7]);
  expect(nodeDenied(known, node("n"))).toEqual({ code: 7, message: 'this client may not be node "n" here' });
  expect(typeDenied(CLUSTER)).toEqual({
    code: 7,
    message: "this client may not have envoy.config.cluster.v3.Cluster here",
  });
});

test("S-ACC-08: a later request names another node by its id, its cluster or its user agent", () => {
  const first = node("n", "envoy");
  const others = [first, { ...first }, { ...first, id: "m" }, { ...first, cluster: "c" }, node("n")];
  expect(others.map((one) => isOtherNode(first, one))).toEqual([false, false, true, true, true]);
});

describe("S-DEL-08: what a node sees", () => {
  const withMapping = (nodeMapping: NodeMapping, access?: AccessPolicy): Admission =>
    new Admission({ traits, nodeMapping, ...(access !== undefined && { access }) }, (layer) => layer !== "none");
  const grant: AccessGrant = { key: "some", isWhole: false, visible: () => "none" };
  const some: AccessPolicy = { ...openAccess, grant: () => grant };
  const nothing: AccessPolicy = { ...openAccess, grant: () => ({ denied: "no rule" }) };

  test("is in the layers of the mapping, as far as its access goes; a client in the same process sees all", () => {
    const place = (access: AccessPolicy, from = peer): unknown =>
      withMapping(() => ["base"], access).place(node("n"), from, "ads");
    expect([place(some), place(nothing), place(nothing, { ...peer, isInProcess: true })]).toEqual([
      { layers: ["base"], grant },
      { refused: nodeDenied(peer, node("n")), denied: "no rule" },
      { layers: ["base"], grant: wholeGrant },
    ]);
    const refusing = withMapping(() => ({ refused: "not here" }));
    expect(refusing.place(node("n"), peer, "ads")).toEqual({ refused: { code: 7, message: "not here" } });
  });

  test("follows what replaces the mapping, the access and the overrides; what is not given stays", () => {
    const one = withMapping(() => ["base"], some);
    const place = (): unknown => one.place(node("n"), peer, "ads");
    one.replace({ nodeMapping: () => ["other"] });
    expect([place(), one.access]).toEqual([{ layers: ["other"], grant }, some]);
    one.replace({ access: openAccess, clients: () => ({ name: "c", edition: "2018" }) });
    expect([place(), one.identify(node("n"), peer, undefined).choices.clients?.name]).toEqual([
      { layers: ["other"], grant: wholeGrant },
      "c",
    ]);
    one.replace({});
    expect([place(), one.identify(undefined, peer, undefined).choices.clients?.name]).toEqual([
      { layers: ["other"], grant: wholeGrant },
      "c",
    ]);
  });

  test("depends on which layers there are only where the mapping is by rules", () => {
    const concerned = (mapping: NodeMapping, layer: string): boolean =>
      withMapping(mapping).dependsOn(new Set([layer]), node("n"));
    const rules = { groups: [] };
    expect([concerned(() => ["base"], "node/n"), concerned(rules, "node/n"), concerned(rules, "node/m")]).toEqual([
      false,
      true,
      false,
    ]);
  });
});

describe("a stream is admitted", () => {
  const requestBy = (nodeId: string | undefined): DeltaRequest =>
    delta(CLUSTER, nodeId === undefined ? {} : { node: node(nodeId) });
  const admit = (dialect: ServerMachineOptions["dialect"], nodeId?: string): unknown => {
    const one = new Admission({ traits, nodeMapping: () => ["base"], ...(dialect && { dialect }) }, () => true);
    const admitted = one.admit(opened(undefined), requestBy(nodeId));
    return "refused" in admitted ? admitted : [admitted.node.id, admitted.layers, admitted.grant];
  };

  test("with its node, or without one unless the dialect wants one", () => {
    expect([admit({ requireNode: true }, "n"), admit({ requireNode: false }), admit({ requireNode: true })]).toEqual([
      ["n", ["base"], wholeGrant],
      ["", ["base"], wholeGrant],
      { refused: { code: 3, message: "the first request of a stream needs a node" } },
    ]);
  });
});

describe("a request", () => {
  test("on an aggregated stream needs a type", () => {
    const talk = talkWith("delta", [plain("a")]);
    talk.hear(1, { ...delta(CLUSTER, {}), type: undefined });
    const message = "a request on an aggregated stream needs a type_url";
    expect(talk.ended).toEqual([[1, { code: statusCode.INVALID_ARGUMENT, message }]]);
  });

  test("on a stream of one type may leave it out, and cannot name another", () => {
    const talk = talkWith("delta", [plain("a")]);
    talk.open(2, "delta", CLUSTER);
    expect(says(talk.hear(2, { ...delta(CLUSTER, {}), type: undefined }))).toEqual([["a@1"]]);
    talk.hear(2, delta(LISTENER, {}));
    const message = "this method serves envoy.config.cluster.v3.Cluster, not envoy.config.listener.v3.Listener";
    expect(talk.ended).toEqual([[2, { code: statusCode.INVALID_ARGUMENT, message }]]);
  });

  describe("on a stream of one type that has a twin", () => {
    const twins = new Map([
      [CLUSTER, CLUSTER_V2],
      [CLUSTER_V2, CLUSTER],
    ]);
    const talkOfTwins = (): Conversation => {
      const talk = talkWith("delta", [plain("a")], {
        traits: (type) => {
          const twin = twins.get(type);
          const known = traits(type === CLUSTER_V2 ? CLUSTER : type);
          return known && { ...known, type, ...(twin !== undefined && { twin }) };
        },
      });
      talk.put(resource(CLUSTER_V2, "a", "old", { references: [] }));
      talk.open(2, "delta", CLUSTER_V2, 1, { apiVersion: "v2" });
      return talk;
    };

    test("S-TYP-04 without a type means that of its method, in the version of its method", () => {
      expect(says(talkOfTwins().hear(2, { ...delta(CLUSTER, {}), type: undefined }))).toEqual([["a@old"]]);
    });

    test("S-TYP-06 may name the twin instead, and goes on with it when it leaves the type out", () => {
      const talk = talkOfTwins();
      expect(talk.hear(2, delta(CLUSTER, {}))).toMatchObject([{ type: CLUSTER, says: ["a@1"] }]);
      expect(talk.hear(2, { ...delta(CLUSTER, { nonce: "1" }), type: undefined })).toEqual([]);
      talk.put(plain("a", "2"));
      expect(talk.turns()).toMatchObject([{ type: CLUSTER, says: ["a@2"] }]);
    });

    test("B-TYP-02 keeps to the one it began with", () => {
      const talk = talkOfTwins();
      talk.hear(2, delta(CLUSTER, {}));
      talk.hear(2, delta(CLUSTER_V2, {}));
      const message = "this stream carries envoy.config.cluster.v3.Cluster for its life, not envoy.api.v2.Cluster";
      expect(talk.ended).toEqual([[2, { code: statusCode.INVALID_ARGUMENT, message }]]);
    });

    test("S-TYP-06 cannot name another, and is told both that it may", () => {
      const talk = talkOfTwins();
      talk.hear(2, delta(LISTENER, {}));
      const message =
        "this method serves envoy.api.v2.Cluster or envoy.config.cluster.v3.Cluster, not envoy.config.listener.v3.Listener";
      expect(talk.ended).toEqual([[2, { code: statusCode.INVALID_ARGUMENT, message }]]);
    });
  });

  test("on a method that needs a switch which is off ends the stream, and says which", () => {
    const message = 'this method is only served where the switch "incremental2018" is on';
    const off = talkWith("delta", [plain("a")]);
    off.open(2, "delta", CLUSTER, 1, { apiVersion: "v2", needs: "incremental2018" });
    off.hear(2, delta(CLUSTER, {}));
    expect(off.ended).toEqual([[2, { code: statusCode.UNIMPLEMENTED, message }]]);
    const on = talkWith("delta", [plain("a")], { edition: "2018" });
    on.open(2, "delta", CLUSTER, 1, { apiVersion: "v2", needs: "incremental2018" });
    expect(says(on.hear(2, delta(CLUSTER, {})))).toEqual([["a@1"]]);
  });
});
