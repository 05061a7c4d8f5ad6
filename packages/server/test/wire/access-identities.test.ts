import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  decodeDeltaResponse,
  decodeSotwResponse,
  encodeDeltaRequest,
  encodeSotwRequest,
} from "@xdskit/envoy-api/internal";
import { type AccessRule, type AccessRules, anonymousNode, type EntryPoint, type TypeUrl } from "@xdskit/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority, type IssuedCertificate } from "../support/authority.ts";
import { encoded } from "../support/messages.ts";
import { PlainAccess, type PlainCaller } from "../support/plain-access.ts";
import { RawPeer, within } from "../support/raw-peer.ts";
import { secret } from "../support/secret.ts";
import {
  ADS_DELTA,
  ADS_SOTW,
  CDS_DELTA,
  CDS_FETCH,
  CDS_SOTW,
  CLUSTER,
  cluster,
  SECRET,
  startWorld,
  type World,
} from "../support/test-server.ts";

const SDS = "/envoy.service.secret.v3.SecretDiscoveryService";
const PATIENCE_MS = 30_000;

/** The alternative names of a certificate, as it is issued; an empty one means that there is no certificate. */
interface Identity extends PlainCaller {
  readonly alternatives: string;
  readonly by?: "stranger";
  readonly isExpired?: true;
}
const address = "127.0.0.1";
const spiffe = (service: string): string => `spiffe://prod/ns/a/sa/${service}`;
const identities: Readonly<Record<string, Identity>> = {
  "no certificate": { alternatives: "", address },
  edge: { alternatives: `URI:${spiffe("edge")}`, address, names: { uris: [spiffe("edge")], dnsNames: [] } },
  pay: {
    ...{ alternatives: `URI:${spiffe("pay")}`, address, role: "viewer" },
    names: { uris: [spiffe("pay")], dnsNames: [] },
  },
  "a DNS name": {
    ...{ alternatives: "DNS:edge.example", address, role: "operator" },
    names: { uris: [], dnsNames: ["edge.example"] },
  },
  "both kinds of names": {
    alternatives: `DNS:pay.example,URI:${spiffe("edge")}`,
    ...{ address, names: { uris: [spiffe("edge")], dnsNames: ["pay.example"] } },
  },
  "a wildcard": { alternatives: "DNS:*.example", address, names: { uris: [], dnsNames: ["*.example"] } },
  "a DNS name that reads as a URI": {
    alternatives: `DNS:${spiffe("pay")}`,
    ...{ address, names: { uris: [], dnsNames: [spiffe("pay")] } },
  },
  "another trust domain": {
    alternatives: "URI:spiffe://test/ns/a/sa/edge",
    ...{ address, names: { uris: ["spiffe://test/ns/a/sa/edge"], dnsNames: [] } },
  },
  // Whatever these two say, nobody vouches for them.
  "another CA": { alternatives: `URI:${spiffe("pay")},DNS:edge.example`, address, by: "stranger" },
  "an expired certificate": { alternatives: `URI:${spiffe("pay")},DNS:edge.example`, address, isExpired: true },
};

const nodes = ["edge-1", "pay-1"] as const;
const types: readonly TypeUrl[] = [CLUSTER, SECRET];
const names = ["edge/a", "pay/a", "own"] as const;
/** The layer of each name; only edge-1 has a layer of its own. */
const layerOf = (name: string): string => (name === "own" ? "node/edge-1" : "base");

let authority: Authority;
let stranger: Authority;
let files: string;
let world: World;
const peers = new Map<string, RawPeer>();
const certificates = new Map<string, IssuedCertificate | undefined>();

beforeAll(async () => {
  [authority, stranger] = [new Authority("authority"), new Authority("stranger")];
  files = mkdtempSync(join(tmpdir(), "xdskit-tls-"));
  const own = authority.issue("IP:127.0.0.1,DNS:localhost");
  const write = (name: string, content: string): string => {
    writeFileSync(join(files, name), content);
    return join(files, name);
  };
  const tls = { cert: write("a.crt", own.cert), key: write("a.key", own.key), ca: write("ca.crt", authority.cert) };
  world = await startWorld(
    {
      nodeMapping: ({ id }) => (id === "edge-1" ? ["node/edge-1", "base"] : ["base"]),
      limits: { maxConnections: 1_000 },
      tls: { ...tls, requireClientCertificate: false },
      admin: { tls, viewers: [`uri:${spiffe("pay")}`], operators: ["dns:edge.example"] },
      healthDiscovery: { specifierFor: () => ({ interval: "1s" }), onHealth: () => undefined },
    },
    [],
  );
  const held = (name: string) => [cluster(name), secret(name, name)];
  world.server.commit({
    changes: [
      { layer: "base", puts: [...held("edge/a"), ...held("pay/a")] },
      { layer: "node/edge-1", puts: held("own") },
    ],
  });
  for (const [name, { alternatives, by, isExpired }] of Object.entries(identities)) {
    const issuer = by === undefined ? authority : stranger;
    const until = isExpired === true ? { until: new Date(Date.now() - 60_000) } : {};
    const issued = alternatives === "" ? undefined : issuer.issue(alternatives, until);
    certificates.set(name, issued);
    peers.set(name, await RawPeer.connect(world.address, { ca: authority.cert, ...issued }));
  }
});
afterAll(async () => {
  await Promise.all([...peers.values()].map((peer) => peer.close()));
  await world.close();
  rmSync(files, { recursive: true });
  for (const one of [authority, stranger]) one[Symbol.dispose]();
});

/** What is asked, and what is right. */
interface Question {
  readonly who: string;
  readonly way: string;
  readonly node?: string;
  readonly type?: TypeUrl;
}
/** The names that a client is sent, that it is let in, or the status with which it is not. */
type Answer = readonly string[] | "let in" | "UNAUTHENTICATED" | "PERMISSION_DENIED";

interface Way {
  readonly entry: EntryPoint;
  readonly kind: "resources" | "node" | "nobody";
  readonly ask: (question: Question) => Promise<Answer>;
}

const claiming = (id: string | undefined) => ({ ...anonymousNode, id: id ?? "" });

async function called(who: string, path: string, message: Uint8Array): Promise<readonly Uint8Array[] | Answer> {
  const call = peers.get(who)?.open(path);
  if (call === undefined) throw new Error("no connection");
  call.send(message);
  call.end();
  const { code } = await within("the end of a call", call.status, PATIENCE_MS);
  if (code === 16) return "UNAUTHENTICATED";
  if (code === 7) return "PERMISSION_DENIED";
  if (code !== 0) throw new Error(`${path} ended with ${code}`);
  const messages: Uint8Array[] = [];
  while (call.waiting > 0) messages.push(await call.next());
  return messages;
}

const sotw = (cds: string, sds: string) => async (question: Question) => {
  const { who, node, type = CLUSTER } = question;
  const message = encodeSotwRequest({ node: claiming(node), typeUrl: type, resourceNames: [...names] });
  const found = await called(who, type === CLUSTER ? cds : sds, message);
  if (typeof found === "string") return found;
  return found
    .flatMap((bytes) => decodeSotwResponse(bytes as Uint8Array).resources.map(({ value }) => nameIn(value)))
    .sort();
};
const delta = (cds: string, sds: string) => async (question: Question) => {
  const { who, node, type = CLUSTER } = question;
  const message = encodeDeltaRequest({ node: claiming(node), typeUrl: type, resourceNamesSubscribe: [...names] });
  const found = await called(who, type === CLUSTER ? cds : sds, message);
  if (typeof found === "string") return found;
  return found.flatMap((bytes) => decodeDeltaResponse(bytes as Uint8Array).resources.map(({ name }) => name)).sort();
};
const letIn = (path: string, message: (id: string | undefined) => Uint8Array) => async (question: Question) => {
  const found = await called(question.who, path, message(question.node));
  return typeof found === "string" ? found : "let in";
};

/** The name is the first field of both messages. */
function nameIn(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(2, 2 + (bytes[1] ?? 0))).toString();
}

async function requested(who: string, at: { readonly port: number; readonly path: string; readonly body?: string }) {
  const request = httpsRequest({
    ...{ host: address, port: at.port, path: at.path, agent: false, ca: authority.cert, ...certificates.get(who) },
    method: at.body === undefined ? "GET" : "POST",
    headers: { "content-type": "application/json" },
  });
  request.end(at.body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, text: Buffer.concat(chunks).toString() };
}

async function polled({ who, node, type = CLUSTER }: Question): Promise<Answer> {
  const path = `/v3/discovery:${type === CLUSTER ? "clusters" : "secrets"}`;
  const body = JSON.stringify({ node: { id: node }, resource_names: names });
  const { status, text } = await requested(who, { port: world.address.port, path, body });
  if (status === 401) return "UNAUTHENTICATED";
  if (status === 403) return "PERMISSION_DENIED";
  if (text === "") return [];
  const { resources = [] } = JSON.parse(text) as { readonly resources?: readonly { readonly name: string }[] };
  return resources.map(({ name }) => name).sort();
}

/** The admin API refuses with one status. */
const adminAt =
  (path: string, body?: string) =>
  async ({ who }: Question): Promise<Answer> => {
    const { status } = await requested(who, {
      port: world.adminAddress?.port ?? 0,
      path,
      ...(body !== undefined && { body }),
    });
    return status === 403 ? "PERMISSION_DENIED" : "let in";
  };

const ways: Readonly<Record<string, Way>> = {
  "ADS SotW": { entry: "ads", kind: "resources", ask: sotw(ADS_SOTW, ADS_SOTW) },
  "ADS delta": { entry: "ads", kind: "resources", ask: delta(ADS_DELTA, ADS_DELTA) },
  "a stream of one type, SotW": { entry: "stream", kind: "resources", ask: sotw(CDS_SOTW, `${SDS}/StreamSecrets`) },
  "a stream of one type, delta": { entry: "stream", kind: "resources", ask: delta(CDS_DELTA, `${SDS}/DeltaSecrets`) },
  "a unary fetch": { entry: "fetch", kind: "resources", ask: sotw(CDS_FETCH, `${SDS}/FetchSecrets`) },
  "a poll": { entry: "rest", kind: "resources", ask: polled },
  "load reports": {
    ...{ entry: "lrs", kind: "node" },
    ask: letIn("/envoy.service.load_stats.v3.LoadReportingService/StreamLoadStats", (id) =>
      encoded("envoy.service.load_stats.v3.LoadStatsRequest", { node: { id } }),
    ),
  },
  "health discovery": {
    ...{ entry: "hds", kind: "node" },
    ask: letIn("/envoy.service.health.v3.HealthDiscoveryService/StreamHealthCheck", (id) =>
      encoded("envoy.service.health.v3.HealthCheckRequestOrEndpointHealthResponse", {
        healthCheckRequest: { node: { id }, capability: {} },
      }),
    ),
  },
  "client status": {
    ...{ entry: "csds", kind: "nobody" },
    ask: letIn("/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus", () => new Uint8Array()),
  },
  health: { entry: "health", kind: "nobody", ask: letIn("/grpc.health.v1.Health/Check", () => new Uint8Array()) },
  reflection: {
    ...{ entry: "reflection", kind: "nobody" },
    ask: letIn("/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", () => Uint8Array.from([58, 0])),
  },
  probes: { entry: "health", kind: "nobody", ask: adminAt("/livez") },
  metrics: { entry: "metrics", kind: "nobody", ask: adminAt("/metrics") },
  "reading the admin API": { entry: "admin", kind: "nobody", ask: adminAt("/api/v1/nodes") },
  "changing through the admin API": { entry: "admin-change", kind: "nobody", ask: adminAt("/api/v1/approve/999", "") },
};

const questions: readonly Question[] = Object.keys(identities).flatMap((who) =>
  Object.entries(ways).flatMap(([way, { kind }]): readonly Question[] => {
    if (kind === "nobody") return [{ who, way }];
    if (kind === "node") return nodes.map((node) => ({ who, way, node }));
    return nodes.flatMap((node) => types.map((type) => ({ who, way, node, type })));
  }),
);

function expected(rules: AccessRules, { who, way, node, type }: Question): Answer | undefined {
  const plain = new PlainAccess(rules);
  const caller = identities[who];
  const found = ways[way];
  if (caller === undefined || found === undefined) throw new Error("no such question");
  const { entry, kind } = found;
  // The roles are those of the admin port: nothing else knows them.
  const isAdmin = entry === "admin" || entry === "admin-change" || way === "probes" || way === "metrics";
  const asking = { caller: { ...caller, role: isAdmin ? caller.role : undefined }, entry, node };
  const denied = caller.names === undefined && !isAdmin ? "UNAUTHENTICATED" : "PERMISSION_DENIED";
  if (!plain.admits(asking)) return denied;
  if (kind !== "resources") return "let in";
  const short = type === SECRET ? "Secret" : "Cluster";
  const layers = node === "edge-1" ? ["node/edge-1", "base"] : ["base"];
  if (entry !== "ads" && plain.closes(asking, short, layers)) return "PERMISSION_DENIED";
  return names
    .filter((name) => name !== "own" || node === "edge-1")
    .filter((name) => plain.gives(asking, { layer: layerOf(name), type: short, name }))
    .sort();
}

const entries = [...new Set(Object.values(ways).map(({ entry }) => entry))];
const rule: fc.Arbitrary<AccessRule> = fc
  .record(
    {
      identities: fc.constantFrom<(readonly string[])[]>(
        ["anyone"],
        ["certificate"],
        ["loopback"],
        ["dns:edge.example"],
        ["dns:*.example"],
        [spiffe("edge")],
        ["spiffe://prod/ns/*/sa/{who}"],
        ["spiffe://prod/ns/a/sa/{who}", "dns:{who}.example"],
      ),
      entryPoints: fc.subarray(entries, { minLength: 1 }),
      nodes: fc.subarray(["edge-*", "pay-1"], { minLength: 1 }),
      layers: fc.subarray(["base", "node/*"], { minLength: 1 }),
      types: fc.subarray(["Secret", "Cluster", "*"], { minLength: 1 }),
      names: fc.subarray(["edge/*", "*/a", "own"], { minLength: 1 }),
      deny: fc.boolean(),
    },
    { requiredKeys: ["identities"] },
  )
  .chain((one): fc.Arbitrary<AccessRule> => {
    // A rule that captures uses what it captured.
    if (!one.identities.every((identity) => identity.includes("{who}"))) return fc.constant<AccessRule>(one);
    return fc.constantFrom<AccessRule>(one, { ...one, nodes: ["{who}-*"] }, { ...one, names: ["{who}/*"] });
  });
const rulesArbitrary: fc.Arbitrary<AccessRules> = fc.record({
  loopback: fc.constantFrom("rules", "rules", "trusted"),
  rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
});

test("S-ACC-01 S-ACC-20: certificates at every entry point, over TLS, as a plain reading of the rules gives", {
  timeout: 240_000,
}, async () => {
  const seen = new Map<string, number>();
  const everything: AccessRules = {
    loopback: "rules",
    rules: [{ identities: ["anyone"], entryPoints: entries, types: ["*"], layers: ["*"] }],
  };
  const nothing: AccessRules = { loopback: "rules", rules: [{ identities: ["anyone"], deny: true }] };
  const thirds = [0, 1, 2] as const;
  await fc.assert(
    fc.asyncProperty(rulesArbitrary, fc.constantFrom(...thirds), async (rules, third) => {
      world.server.setAccess(rules);
      for (const [index, question] of questions.entries()) {
        if (index % 3 !== third) continue;
        const answer = await ways[question.way]?.ask(question);
        expect([question, answer]).toEqual([question, expected(rules, question)]);
        const kind = typeof answer === "string" ? answer : answer?.length === 0 ? "nothing" : "resources";
        for (const key of [`${question.who}: ${kind}`, `${question.way}: ${kind === "nothing" ? "let in" : kind}`])
          seen.set(key, (seen.get(key) ?? 0) + 1);
      }
    }),
    { numRuns: 20, examples: [everything, nothing].flatMap((rules) => thirds.map((third) => [rules, third] as const)) },
  );
  // Every way in is open to somebody and closed to somebody, so that the comparison means something.
  for (const [way, { kind }] of Object.entries(ways)) {
    expect(seen.get(`${way}: ${kind === "resources" ? "resources" : "let in"}`), way).toBeGreaterThan(0);
    expect(seen.get(`${way}: PERMISSION_DENIED`), way).toBeGreaterThan(0);
  }
  for (const who of Object.keys(identities)) expect(seen.get(`${who}: resources`), who).toBeGreaterThan(0);
});
