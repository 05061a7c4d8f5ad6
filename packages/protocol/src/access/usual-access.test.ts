import { describe, expect, test } from "vitest";
import { anonymousNode } from "../node/node.ts";
import type { Peer } from "../node/node-mapping.ts";
import { formatTypeUrl, type TypeUrl } from "../resource/type-url.ts";
import { type AccessPolicy, isVisible } from "./access-policy.ts";
import { type AccessFunction, entryPoints } from "./access-rules.ts";
import { createAccess } from "./create-access.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const SECRET = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");
const isSecret = (type: TypeUrl): boolean => type === SECRET;
const node = { ...anonymousNode, id: "edge-1" };

const plaintext: Peer = { address: "10.1.2.3:9", isLoopback: false, isTls: false, names: [] };
const certificate = { commonName: undefined, uris: [], dnsNames: ["edge-1"], validTo: new Date(0) };
const peers: Readonly<Record<string, Peer>> = {
  plaintext,
  "one-way TLS": { ...plaintext, isTls: true },
  "another's certificate": {
    ...plaintext,
    isTls: true,
    names: ["pay-1"],
    certificate: { ...certificate, dnsNames: ["pay-1"] },
  },
  "its certificate": { ...plaintext, isTls: true, names: ["edge-1"], certificate },
  loopback: { ...plaintext, address: "127.0.0.1:9", isLoopback: true },
};

interface Settings {
  readonly insecure?: boolean;
  readonly access?: AccessFunction;
}

function policyOf({ insecure = false, access }: Settings, thrown: unknown[] = []): AccessPolicy {
  const onThrown = (error: unknown): unknown => thrown.push(error);
  const policy = createAccess({ access, insecure, isSecret, statusReaders: "loopback", onThrown });
  if ("problems" in policy) throw new Error("there are no rules");
  return policy;
}

/** What a caller gets at each entry point: C clusters, S secrets, N the layer of its node. */
function given(policy: AccessPolicy, peer: Peer): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entryPoints.map((entryPoint) => {
      const letters = [
        ["C", ["base"], CLUSTER],
        ["S", ["base"], SECRET],
        ["N", ["node/edge-1", "base"], CLUSTER],
      ] as const;
      const gets = letters.flatMap(([letter, layers, type]) => {
        const grant = policy.grant({ entryPoint, peer, node }, layers);
        const isShown = !("denied" in grant) && isVisible(grant, layers[0], { type, name: "a" });
        expect(policy.explain({ entryPoint, peer, node }, layers, { type, name: "a" }).isAllowed).toBe(isShown);
        return isShown ? [letter] : [];
      });
      return [entryPoint, gets.join("")];
    }),
  );
}

const everywhere = (gets: string): Readonly<Record<string, string>> =>
  Object.fromEntries(entryPoints.map((entryPoint) => [entryPoint, gets]));
const open = { health: "CSN", reflection: "CSN", metrics: "CSN" };
/** Without a role, the admin API is for nobody. */
const closed = { admin: "", "admin-change": "" };

describe("S-ACC-20 without rules", () => {
  test.each([
    ["plaintext", "C", ""],
    ["one-way TLS", "C", ""],
    ["another's certificate", "C", ""],
    ["its certificate", "CSN", ""],
    ["loopback", "CSN", "CSN"],
  ])("%s gets %j, and of client status %j", (name, gets, csds) => {
    const peer = peers[name] ?? plaintext;
    expect(given(policyOf({}), peer)).toEqual({ ...everywhere(gets), ...open, ...closed, csds });
  });

  test("insecure opens everything but client status and the admin API", () => {
    const expected = { ...everywhere("CSN"), ...closed, csds: "" };
    expect(given(policyOf({ insecure: true }), plaintext)).toEqual(expected);
  });

  test("a function decides where nodes speak for themselves", () => {
    const access: AccessFunction = ({ entryPoint, resource }) => entryPoint !== "rest" && resource?.type !== SECRET;
    const expected = { ...everywhere("CN"), rest: "", ...open, ...closed };
    expect(given(policyOf({ access }), plaintext)).toEqual({ ...expected, csds: "" });
    expect(given(policyOf({ access }), peers["loopback"] ?? plaintext)).toEqual({ ...expected, csds: "CN" });
  });

  test("a function that throws denies, and that is told", () => {
    const thrown: unknown[] = [];
    const error = new Error("no database");
    const access: AccessFunction = () => {
      throw error;
    };
    const policy = policyOf({ access }, thrown);
    expect(policy.grant({ entryPoint: "ads", peer: plaintext, node }, ["base"])).toEqual({
      denied: "the access function failed",
    });
    expect(thrown).toEqual([error]);
  });

  test("a function that answers anything but true denies", () => {
    const access = (() => Promise.resolve(true)) as unknown as AccessFunction;
    expect(policyOf({ access }).grant({ entryPoint: "ads", peer: plaintext, node }, ["base"])).toEqual({
      denied: "the access function denies it",
    });
  });
});
