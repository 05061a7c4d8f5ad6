import { encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { type AccessRules, anonymousNode } from "@xdskit/protocol";
import { afterEach, expect, test } from "vitest";
import { ADS_SOTW, CLUSTER, startWorld, type World } from "../support/test-server.ts";

const access: AccessRules = {
  loopback: "rules",
  rules: [
    { name: "edge", identities: ["spiffe://prod/{service}"], nodes: ["{service}-*"], names: ["{service}/*"] },
    { identities: ["address:127.0.0.1"], metadata: { zone: "a*" } },
  ],
};

let world: World;
afterEach(() => world.close());

async function get(path: string): Promise<[number, unknown]> {
  const { host, port } = world.adminAddress ?? {};
  const response = await fetch(`http://${host}:${port}/api/v1/${path}`);
  return [response.status, await response.json()];
}

const EDGE = "access?identity=uri:spiffe://prod/edge&node=edge-1";
const common = { entry: "ads", node: "edge-1", layers: ["base"] };

test.each([
  [EDGE, { ...common, allowed: true, reason: 'rule "edge" allows it', rule: 0 }],
  [
    `${EDGE}&type=cds&name=pay/a`,
    {
      ...{ ...common, allowed: false, type: CLUSTER, name: "pay/a", reason: "no rule allows it" },
      misses: [{ rule: 0, field: "names" }],
    },
  ],
  [
    "access?entry=csds&identity=tls",
    {
      ...{ allowed: false, entry: "csds", layers: [], reason: "no rule allows it" },
      misses: [
        { rule: 0, field: "entryPoints" },
        { rule: 1, field: "entryPoints" },
      ],
    },
  ],
])("%s is explained by the rules in force", async (path, answer) => {
  world = await startWorld({ access, admin: {} });
  expect(await get(path)).toEqual([200, answer]);
});

test.each(["access?identity=edge", "access?entry=door", "access?name=a", "access?type=nothing"])(
  "%s is no question",
  async (path) => {
    world = await startWorld({ access, admin: {} });
    expect(await get(path)).toEqual([400, expect.objectContaining({ error: expect.any(String) as string })]);
  },
);

test("the rules in force and the clients, as rules know them", async () => {
  world = await startWorld({ access, admin: {} });
  expect(await get("access/rules")).toEqual([200, { kind: "rules", rules: access, clientStatus: "loopback" }]);
  const call = (await world.connect()).open(ADS_SOTW);
  const node = { ...anonymousNode, id: "n", metadata: { zone: "a1", password: "p" } };
  call.send(encodeSotwRequest({ node, typeUrl: CLUSTER }));
  await call.next(30_000);
  expect(await get("access/clients")).toEqual([
    200,
    {
      items: [
        {
          ...{ entry: "ads", node: "n", cluster: "", metadata: { zone: "a1" }, types: [CLUSTER] },
          ...{ peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string, identities: ["address:127.0.0.1"] },
        },
      ],
      total: 1,
    },
  ]);
  world.server.setAccess(() => true);
  expect(await get("access/rules")).toEqual([200, { kind: "function", clientStatus: "loopback" }]);
  world.server.setAccess(undefined);
  expect(await get("access/rules")).toEqual([200, { kind: "default", clientStatus: "loopback" }]);
});
