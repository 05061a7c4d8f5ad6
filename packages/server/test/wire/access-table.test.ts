import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { decodeSotwResponse, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { type AccessRule, anonymousNode, type EntryPoint, type Resource, type TypeUrl } from "@xdskit/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PlainAccess } from "../support/plain-access.ts";
import { RawPeer, within } from "../support/raw-peer.ts";
import { secret } from "../support/secret.ts";
import {
  ADS_SOTW,
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
const clients = ["127.0.0.1", "127.0.0.2", "127.0.0.3"] as const;
/** What a client says that it is. */
interface ClaimedNode {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: Readonly<Record<string, string>>;
}
const nodes: readonly ClaimedNode[] = [
  { id: "edge-1", cluster: "web", metadata: { zone: "z1" } },
  { id: "edge-1", cluster: "db", metadata: {} },
  { id: "pay-1", cluster: "web", metadata: { zone: "z2", tier: "gold" } },
];
const entries = ["ads", "stream", "fetch", "rest"] as const satisfies readonly EntryPoint[];
const types: readonly TypeUrl[] = [CLUSTER, SECRET];
const names = ["edge/a", "pay/a", "own"] as const;
/** The layer of each name; only edge-1 has a layer of its own. */
const layerOf = (name: string): string => (name === "own" ? "node/edge-1" : "base");
const exists = (name: string, { id }: ClaimedNode): boolean => name !== "own" || id === "edge-1";

let world: World;
const peers = new Map<string, RawPeer>();
beforeAll(async () => {
  const nodeMapping = ({ id }: { readonly id: string }): readonly string[] =>
    id === "edge-1" ? ["node/edge-1", "base"] : ["base"];
  world = await startWorld({ nodeMapping, limits: { maxConnections: 1_000 } }, []);
  const held = (name: string): readonly Resource[] => [cluster(name), secret(name, name)];
  world.server.commit({
    changes: [
      { layer: "base", puts: [...held("edge/a"), ...held("pay/a")] },
      { layer: "node/edge-1", puts: held("own") },
    ],
  });
  // A socket option that the types of HTTP/2 do not know.
  for (const from of clients) peers.set(from, await RawPeer.connect(world.address, { localAddress: from } as object));
});
afterAll(async () => {
  await Promise.all([...peers.values()].map((peer) => peer.close()));
  await world.close();
});

interface Question {
  readonly from: string;
  readonly entry: (typeof entries)[number];
  readonly node: ClaimedNode;
  readonly type: TypeUrl;
}
const questions: readonly Question[] = clients.flatMap((from) =>
  entries.flatMap((entry) => nodes.flatMap((node) => types.map((type) => ({ from, entry, node, type })))),
);

/** The names that a client is sent, or that it is refused. */
async function asked(question: Question): Promise<readonly string[] | "refused"> {
  return question.entry === "rest" ? polled(question) : called(question);
}

async function called({ from, entry, node, type }: Question): Promise<readonly string[] | "refused"> {
  const paths = {
    ads: ADS_SOTW,
    stream: type === CLUSTER ? CDS_SOTW : `${SDS}/StreamSecrets`,
    fetch: type === CLUSTER ? CDS_FETCH : `${SDS}/FetchSecrets`,
    rest: "",
  };
  const call = peers.get(from)?.open(paths[entry]);
  if (call === undefined) throw new Error("no connection");
  call.send(encodeSotwRequest({ node: { ...anonymousNode, ...node }, typeUrl: type, resourceNames: [...names] }));
  call.end();
  const { code } = await within("the end of a call", call.status, PATIENCE_MS);
  if (code === 16 || code === 7) return "refused";
  const found: string[] = [];
  while (call.waiting > 0)
    for (const { value } of decodeSotwResponse(await call.next()).resources) found.push(nameIn(value));
  return found.sort();
}

/** The name is the first field of both messages. */
function nameIn(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(2, 2 + (bytes[1] ?? 0))).toString();
}

async function polled({ from, node, type }: Question): Promise<readonly string[] | "refused"> {
  const request = httpRequest({
    ...{ ...world.address, agent: false, localAddress: from, method: "POST" },
    path: `/v3/discovery:${type === CLUSTER ? "clusters" : "secrets"}`,
    headers: { "content-type": "application/json" },
  });
  request.end(JSON.stringify({ node, resource_names: names }));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  if (response.statusCode === 401 || response.statusCode === 403) return "refused";
  const text = Buffer.concat(chunks).toString();
  if (text === "") return [];
  const { resources = [] } = JSON.parse(text) as { readonly resources?: readonly { readonly name: string }[] };
  return resources.map(({ name }) => name).sort();
}

/** What the plain reading of the rules says. */
function expected(rules: readonly AccessRule[], { from, entry, node, type }: Question): readonly string[] | "refused" {
  const plain = new PlainAccess({ loopback: "rules", rules });
  const { id, cluster: inCluster, metadata } = node;
  const asking = { caller: { address: from }, entry, node: id, cluster: inCluster, metadata };
  const short = type === SECRET ? "Secret" : "Cluster";
  const layers = id === "edge-1" ? ["node/edge-1", "base"] : ["base"];
  if (!plain.admits(asking) || (entry !== "ads" && plain.closes(asking, short, layers))) return "refused";
  return names
    .filter((name) => exists(name, node) && plain.gives(asking, { layer: layerOf(name), type: short, name }))
    .sort();
}

const rule: fc.Arbitrary<AccessRule> = fc.record(
  {
    identities: fc.constantFrom<(readonly string[])[]>(
      ["anyone"],
      ["loopback"],
      ["address:127.0.0.2"],
      ["address:127.0.0.1", "address:127.0.0.3"],
    ),
    entryPoints: fc.subarray([...entries], { minLength: 1 }),
    nodes: fc.subarray(["edge-*", "pay-1"], { minLength: 1 }),
    clusters: fc.subarray(["w*", "db", "other"], { minLength: 1 }),
    metadata: fc.constantFrom<Readonly<Record<string, string>>[]>(
      ...[{ zone: "z1" }, { zone: "z*" }, { zone: "*", tier: "g*d" }, { constructor: "*" }],
    ),
    layers: fc.subarray(["base", "node/*"], { minLength: 1 }),
    types: fc.subarray(["Secret", "Cluster", "*"], { minLength: 1 }),
    names: fc.subarray(["edge/*", "*/a", "own"], { minLength: 1 }),
    deny: fc.boolean(),
  },
  { requiredKeys: ["identities"] },
);
const rulesOf = fc.array(rule, { minLength: 1, maxLength: 4 });

async function answers(rules: readonly AccessRule[]): Promise<ReadonlyMap<Question, readonly string[] | "refused">> {
  world.server.setAccess({ loopback: "rules", rules });
  const found = new Map<Question, readonly string[] | "refused">();
  for (const question of questions) found.set(question, await asked(question));
  return found;
}

/** The rules without a condition on the node. */
function without(field: "clusters" | "metadata", rules: readonly AccessRule[]): readonly AccessRule[] {
  return rules.map(({ [field]: _, ...rule }) => rule);
}

test("S-ACC-01 S-ACC-20: entry point x identity x node x type x name x rules, over the wire", {
  timeout: 120_000,
}, async () => {
  let shown = 0;
  /** Answers that would be others without a condition of the rules. */
  const decided = { clusters: 0, metadata: 0 };
  await fc.assert(
    fc.asyncProperty(rulesOf, async (rules) => {
      for (const [question, got] of await answers(rules)) {
        expect([question, got]).toEqual([question, expected(rules, question)]);
        if (got !== "refused") shown += got.length;
        for (const field of ["clusters", "metadata"] as const)
          if (String(expected(without(field, rules), question)) !== String(got)) decided[field]++;
      }
    }),
    { numRuns: 25 },
  );
  expect(shown).toBeGreaterThan(100);
  expect(decided.clusters).toBeGreaterThan(20);
  expect(decided.metadata).toBeGreaterThan(20);
});

test("S-ACC-02: over the wire, another rule that denies never widens, nor does one that allows what is denied", {
  timeout: 120_000,
}, async () => {
  const namesIn = (answer: readonly string[] | "refused" | undefined): readonly string[] =>
    answer === undefined || answer === "refused" ? [] : answer;
  await fc.assert(
    fc.asyncProperty(rulesOf, rule, rule, async (rules, one, other) => {
      const deny = { ...one, deny: true };
      const everything = { identities: ["loopback"] };
      const before = await answers(rules);
      const after = await answers([...rules, deny]);
      const undenied = await answers([everything, deny]);
      const allowed = await answers([...rules, deny, { ...other, deny: false }]);
      for (const question of questions) {
        const had = namesIn(before.get(question));
        expect(namesIn(after.get(question)).filter((name) => !had.includes(name))).toEqual([]);
        const may = namesIn(undenied.get(question));
        expect(namesIn(allowed.get(question)).filter((name) => !may.includes(name))).toEqual([]);
      }
    }),
    { numRuns: 6 },
  );
});
