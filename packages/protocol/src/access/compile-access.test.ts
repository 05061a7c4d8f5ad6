import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anonymousNode, type Node } from "../node/node.ts";
import type { Peer } from "../node/node-mapping.ts";
import { formatTypeUrl, type TypeUrl } from "../resource/type-url.ts";
import type { AccessPolicy } from "./access-policy.ts";
import { type AccessRule, type AccessRules, type EntryPoint, entryPoints, nodeEntryPoints } from "./access-rules.ts";
import { compileAccess } from "./compile-access.ts";
import { findIdleRules } from "./find-idle-rules.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const SECRET = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");
const isSecret = (type: TypeUrl): boolean => type === SECRET;

const plaintext: Peer = { address: "10.1.2.3:9", isLoopback: false, isTls: false, names: [] };

function certified(names: { uris?: readonly string[]; dnsNames?: readonly string[] }): Peer {
  const certificate = { commonName: undefined, uris: [], dnsNames: [], validTo: new Date(0), ...names };
  return { ...plaintext, isTls: true, certificate };
}

function compile(rules: readonly AccessRule[], loopback?: AccessRules["loopback"]): AccessPolicy {
  const policy = compileAccess({ rules, ...(loopback !== undefined && { loopback }) }, { isSecret });
  if ("problems" in policy) throw new Error(JSON.stringify(policy.problems));
  return policy;
}

interface Asked {
  readonly entryPoint: EntryPoint;
  readonly role: "viewer" | "operator" | undefined;
  readonly peer: Peer;
  readonly node: Node;
  readonly layer: string;
  readonly type: TypeUrl;
  readonly name: string;
}

function allows(policy: AccessPolicy, { entryPoint, role, peer, node, layer, type, name }: Asked): boolean {
  const grant = policy.grant({ entryPoint, role, peer, node }, [layer]);
  if ("denied" in grant) return false;
  const filter = grant.visible(layer, type);
  return typeof filter === "string" ? filter === "all" : filter(name);
}

const peers: Readonly<Record<string, Peer>> = {
  plaintext,
  "one-way TLS": { ...plaintext, isTls: true },
  "other network": { ...plaintext, address: "[2001:db8::7]:9" },
  loopback: { ...plaintext, address: "127.0.0.1:9", isLoopback: true },
  edge: certified({ uris: ["spiffe://prod/ns/a/sa/edge"], dnsNames: ["edge.example"] }),
  "edge and pay": certified({ uris: ["spiffe://prod/ns/a/sa/edge", "spiffe://prod/ns/a/sa/pay"] }),
  "a DNS name that reads as a URI": certified({ dnsNames: ["spiffe://prod/ns/a/sa/edge"] }),
  "a wildcard certificate": certified({ dnsNames: ["*.example"] }),
};
const node = (id: string, cluster = "web"): Node => ({ ...anonymousNode, id, cluster, metadata: { zone: "z1" } });

const ruleArbitrary: fc.Arbitrary<AccessRule> = fc
  .record(
    {
      identities: fc.constantFrom<(readonly string[])[]>(
        ["anyone"],
        ["loopback"],
        ["certificate"],
        ["address:10.0.0.0/8"],
        ["address:10.1.0.0/16"],
        ["address:2001:db8::/32", "loopback"],
        ["spiffe://prod/ns/*/sa/{who}"],
        ["spiffe://prod/ns/a/sa/edge"],
        ["dns:edge.example"],
        ["spiffe://prod/ns/{who}/sa/edge", "dns:{who}.example"],
        ["dns:*.example"],
      ),
      entryPoints: fc.subarray([...entryPoints]),
      nodes: fc.subarray(["edge*", "*-1", "pay-1", "edge-1"], { minLength: 1 }),
      clusters: fc.subarray(["w*b", "other"], { minLength: 1 }),
      metadata: fc.constantFrom<Readonly<Record<string, string>>[]>(
        { zone: "z1" },
        { zone: "*2" },
        { constructor: "*" },
      ),
      layers: fc.subarray(["base", "node/*"], { minLength: 1 }),
      types: fc.subarray(["Secret", "envoy.config.cluster.v3.Cluster", "*"], { minLength: 1 }),
      names: fc.subarray(["edge*", "*/key", "edge/key"], { minLength: 1 }),
      deny: fc.boolean(),
    },
    { requiredKeys: ["identities"] },
  )
  .chain((rule): fc.Arbitrary<AccessRule> => {
    // A rule that captures uses what it captured.
    if (!rule.identities.every((one) => one.includes("{who}"))) return fc.constant<AccessRule>(rule);
    return fc.constantFrom<AccessRule>(rule, { ...rule, nodes: ["{who}-*"] }, { ...rule, names: ["{who}/*"] });
  });

const askedArbitrary: fc.Arbitrary<Asked> = fc.record({
  entryPoint: fc.oneof(fc.constantFrom(...entryPoints), fc.constant<EntryPoint>("ads")),
  role: fc.constantFrom<("viewer" | "operator" | undefined)[]>(undefined, "viewer", "operator"),
  peer: fc.constantFrom(...Object.values(peers)),
  node: fc.constantFrom(node("edge-1"), node("pay-1"), node("pay-2", "other"), node("")),
  layer: fc.constantFrom("base", "node/edge-1"),
  type: fc.constantFrom(CLUSTER, SECRET),
  name: fc.constantFrom("edge", "edge/key", "pay/key", "other"),
});

/** The same rules, judged one resource at a time by regular expressions. */
function isAllowed({ loopback = "trusted", rules }: AccessRules, asked: Asked): boolean {
  const isAdmin = asked.entryPoint.startsWith("admin");
  const hasRole = asked.role === "operator" || (asked.role === "viewer" && asked.entryPoint === "admin");
  if (loopback === "trusted" && asked.peer.isLoopback && !(isAdmin && asked.role === undefined))
    return !isAdmin || hasRole;
  // Some have no resources: who comes in has everything there.
  const isWithout = isAdmin || ["health", "reflection", "metrics"].includes(asked.entryPoint);
  const isOpen = isAdmin
    ? hasRole
    : isWithout && !rules.some((rule) => rule.deny !== true && rule.entryPoints?.includes(asked.entryPoint) === true);
  const meets = (rule: AccessRule): readonly { who: string | undefined; isSure: boolean }[] =>
    rule.identities.flatMap((identity) => identityMatches(identity, asked.peer));
  const applies = (rule: AccessRule, who: string | undefined, isSure: boolean): boolean => {
    const fit = (patterns: readonly string[] | undefined, text: string) =>
      patterns === undefined || patterns.some((pattern) => expression(pattern, who).test(text));
    const usual = rule.deny === true ? entryPoints : nodeEntryPoints;
    if (!(rule.entryPoints ?? usual).includes(asked.entryPoint)) return false;
    if (!fit(rule.nodes, asked.node.id) || !fit(rule.clusters, asked.node.cluster)) return false;
    for (const [key, pattern] of Object.entries(rule.metadata ?? {})) {
      if (key !== "zone" || !expression(pattern, who).test("z1")) return false;
    }
    if (isWithout) {
      const isAboutSome = rule.layers !== undefined || rule.types !== undefined || rule.names !== undefined;
      return rule.deny !== true || !isAboutSome;
    }
    if (!fit(rule.layers, asked.layer) || !fit(rule.names, asked.name)) return false;
    const short = asked.type === SECRET ? "Secret" : "envoy.config.cluster.v3.Cluster";
    if (rule.types !== undefined && !rule.types.includes("*") && !rule.types.includes(short)) return false;
    if (rule.deny === true || isSure) return true;
    return (
      (rule.layers !== undefined || asked.layer === "base") && (rule.types !== undefined || asked.type === CLUSTER)
    );
  };
  const hits = rules.filter((rule) => meets(rule).some(({ who, isSure }) => applies(rule, who, isSure)));
  return (hits.length > 0 || isOpen) && hits.every(({ deny }) => deny !== true);
}

function identityMatches(identity: string, peer: Peer): readonly { who: string | undefined; isSure: boolean }[] {
  const { certificate, address } = peer;
  const isSure = false;
  if (identity === "anyone") return [{ who: undefined, isSure }];
  if (identity === "loopback") return peer.isLoopback ? [{ who: undefined, isSure: true }] : [];
  if (identity === "certificate") return certificate === undefined ? [] : [{ who: undefined, isSure: true }];
  if (identity.startsWith("address:10.")) return address.startsWith("10.1.2.") ? [{ who: undefined, isSure }] : [];
  if (identity.startsWith("address:")) return address.startsWith("[2001:db8:") ? [{ who: undefined, isSure }] : [];
  const isDns = identity.startsWith("dns:");
  const source = identity.replace("dns:", "").replace("{who}", "(?<who>X)").replace("*", "X");
  const pattern = new RegExp(`^${source.replaceAll("X", isDns ? "[^.*]+" : "[^/]+")}$`);
  return ((isDns ? certificate?.dnsNames : certificate?.uris) ?? []).flatMap((name) => {
    const match = pattern.exec(name);
    return match === null ? [] : [{ who: match.groups?.["who"], isSure: true }];
  });
}

function expression(pattern: string, who: string | undefined): RegExp {
  return new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("{who}", who ?? "")}$`);
}

const rulesArbitrary = fc.record({
  loopback: fc.constantFrom<"trusted" | "rules">("trusted", "rules"),
  rules: fc.array(ruleArbitrary, { maxLength: 4 }),
});

test("S-ACC-01: rules decide as a plain reading of each of them does", () => {
  fc.assert(
    fc.property(rulesArbitrary, askedArbitrary, ({ loopback, rules }, asked) => {
      const policy = compile(rules, loopback);
      expect(allows(policy, asked)).toBe(isAllowed({ loopback, rules }, asked));
      // What is explained is what is decided.
      expect(policy.explain(asked, [asked.layer], asked).isAllowed).toBe(allows(policy, asked));
    }),
    { numRuns: 5_000 },
  );
});

test("S-ACC-02: adding an allow rule never widens what a deny rule denied, and a deny rule never allows", () => {
  const added = ruleArbitrary.map((rule) => ({ ...rule, deny: false }));
  fc.assert(
    fc.property(rulesArbitrary, ruleArbitrary, added, askedArbitrary, ({ rules }, one, allow, asked) => {
      const deny = { ...one, deny: true };
      const denied = [...rules, deny];
      const isDenied = !allows(
        compile([{ identities: ["anyone"], entryPoints, layers: ["*"], types: ["*"] }, deny], "rules"),
        asked,
      );
      if (isDenied) expect(allows(compile([...denied, allow], "rules"), asked)).toBe(false);
      if (!allows(compile(rules, "rules"), asked)) expect(allows(compile(denied, "rules"), asked)).toBe(false);
    }),
    { numRuns: 2_000 },
  );
});

test("S-ACC-21: a rule that is told to be idle decides nothing", () => {
  let idle = 0;
  fc.assert(
    fc.property(
      rulesArbitrary,
      fc.array(askedArbitrary, { minLength: 20, maxLength: 20 }),
      ({ loopback, rules }, all) => {
        for (const { index } of findIdleRules({ loopback, rules })) {
          idle++;
          const others = compile(rules.toSpliced(index, 1), loopback);
          for (const asked of all) expect(allows(others, asked)).toBe(allows(compile(rules, loopback), asked));
        }
      },
    ),
    { numRuns: 2_000 },
  );
  expect(idle).toBeGreaterThan(100);
});

test.each<[string, AccessRules, readonly string[]]>([
  ["loopback, which is trusted", { rules: [{ identities: ["loopback"] }] }, ["it never decides: clients on loopback"]],
  ["loopback under the rules", { loopback: "rules", rules: [{ identities: ["loopback"] }] }, []],
  [
    "one that another denies wholly",
    {
      rules: [
        { identities: ["spiffe://prod/sa/lab"], nodes: ["lab-1"] },
        { name: "no lab", identities: ["spiffe://prod/sa/*"], nodes: ["lab-*"], deny: true },
      ],
    },
    ['it gives nothing: rule "no lab" denies'],
  ],
  [
    "one that an earlier one includes",
    { rules: [{ identities: ["certificate"] }, { identities: ["dns:a.example"], types: ["Cluster"] }] },
    ["it adds nothing: rule 1 allows"],
  ],
  [
    "anyone, who gets no Secrets by it, before one with a certificate",
    { rules: [{ identities: ["anyone"] }, { identities: ["dns:a.example"] }] },
    [],
  ],
  [
    "captures that differ by identity",
    {
      rules: [
        { identities: ["spiffe://prod/{s}"], nodes: ["{s}-*"] },
        { identities: ["spiffe://prod/edge"], nodes: ["pay-*"] },
        { identities: ["spiffe://prod/*"], nodes: ["edge-*"] },
      ],
    },
    [],
  ],
  [
    "a fixed identity within one that captures it",
    {
      rules: [
        {
          identities: ["spiffe://prod/{s}", "dns:{s}.Example"],
          nodes: ["{s}/*"],
          metadata: { app: "{s}" },
          names: ["{s}/*", "shared"],
        },
        { identities: ["spiffe://prod/edge"], nodes: ["edge/*"], metadata: { app: "edge" }, names: ["edge/key"] },
        { identities: ["dns:Pay.example"], nodes: ["pay/1"], metadata: { app: "pay" }, names: ["shared"] },
        { identities: ["spiffe://prod/edge"], nodes: ["edge/*"], metadata: { app: "edge" }, names: ["pay/key"] },
        {
          identities: ["spiffe://prod/edge", "spiffe://lab/edge"],
          nodes: ["edge/*"],
          metadata: { app: "edge" },
          names: ["shared"],
        },
      ],
    },
    ["it adds nothing: rule 1 allows", "it adds nothing: rule 1 allows"],
  ],
  [
    "a DNS name within a wildcard",
    {
      rules: [
        { identities: ["dns:*.example"] },
        { identities: ["dns:a.example"] },
        { identities: ["dns:a.b.example"] },
      ],
    },
    ["it adds nothing: rule 1 allows"],
  ],
  [
    "a range of addresses within another one",
    {
      rules: [
        { identities: ["address:10.0.0.0/8", "address:2001:db8::/32"] },
        { identities: ["address:10.9.0.0/16", "address:10.1.2.3"] },
        { identities: ["address:2001:db8:1::/48"] },
        { identities: ["address:10.0.0.0/7"] },
        { identities: ["address:12.9.0.0/16"] },
      ],
    },
    ["it adds nothing: rule 1 allows", "it adds nothing: rule 1 allows"],
  ],
  [
    "a range of addresses within one that is denied",
    {
      rules: [
        { identities: ["address:10.9.0.0/16"], nodes: ["lab-1"] },
        { identities: ["address:10.0.0.0/8"], nodes: ["lab-*"], deny: true },
      ],
    },
    ["it gives nothing: rule 2 denies"],
  ],
  [
    "a deny where there are no nodes",
    { rules: [{ identities: ["anyone"], entryPoints: ["metrics"], nodes: ["a"], deny: true }] },
    ["it never denies: at metrics"],
  ],
])("S-ACC-21: rules that decide nothing are told: %s", (_, rules, messages) => {
  expect(findIdleRules(rules).map(({ message }) => message)).toEqual(
    messages.map((text) => expect.stringContaining(text) as string),
  );
});

describe("S-ACC-03: an identity is what a verified certificate says, each name as its own kind", () => {
  const edge: AccessRule = { identities: ["spiffe://prod/ns/*/sa/{service}"], nodes: ["{service}-*"] };
  test.each([
    ["edge", "edge-1", true],
    ["edge", "pay-1", false],
    ["edge and pay", "pay-1", true],
    ["a DNS name that reads as a URI", "edge-1", false],
    ["one-way TLS", "edge-1", false],
    ["loopback", "edge-1", true],
  ])("%s claims %s: %s", (peer, id, isGranted) => {
    const grant = compile([edge]).grant({ entryPoint: "ads", peer: peers[peer] ?? plaintext, node: node(id) }, [
      "base",
    ]);
    expect(!("denied" in grant)).toBe(isGranted);
  });

  test.each([
    ["spiffe://prod/ns/*/sa/x", "spiffe://prod/ns/a/b/sa/x", false],
    ["spiffe://prod/ns/*/sa/x", "spiffe://prod/ns//sa/x", false],
    ["dns:*.edge.example", "a.edge.example", true],
    ["dns:*.edge.example", "A.Edge.EXAMPLE", true],
    ["dns:*.edge.example", "a.b.edge.example", false],
    ["dns:*.edge.example", "edge.example", false],
    ["dns:*.edge.example", "*.edge.example", false],
    ["dns:edge.example", "xedge.example", false],
  ])("%s, %s: %s", (identity, name, isMet) => {
    const peer = certified(identity.startsWith("dns:") ? { dnsNames: [name] } : { uris: [name] });
    const grant = compile([{ identities: [identity] }]).grant({ entryPoint: "ads", peer, node: node("n") }, ["base"]);
    expect(!("denied" in grant)).toBe(isMet);
  });

  test("what was captured is taken literally", () => {
    const peer = certified({ uris: ["spiffe://prod/ns/a/sa/*"] });
    expect(compile([edge]).grant({ entryPoint: "ads", peer, node: node("edge-1") }, ["base"])).toMatchObject({
      denied: expect.stringContaining("no rule allows it") as string,
    });
  });
});

test("equal grants have equal keys, others have not, whatever policy they come from", () => {
  const rule: AccessRule = { identities: ["spiffe://prod/ns/*/sa/{service}"], names: ["{service}/*"] };
  const keyFor = (peer: Peer, rules: readonly AccessRule[]): unknown => {
    const grant = compile(rules).grant({ entryPoint: "ads", peer, node: node("n") }, ["base"]);
    return "denied" in grant ? undefined : grant.key;
  };
  const [one, other] = ["edge", "pay"].map((name) => certified({ uris: [`spiffe://prod/ns/a/sa/${name}`] }));
  if (one === undefined || other === undefined) throw new Error("two peers");
  expect(keyFor(one, [rule])).toBe(keyFor(one, [{ identities: ["loopback"] }, rule]));
  expect(keyFor(one, [rule])).not.toBe(keyFor(other, [rule]));
  expect(keyFor(one, [rule])).not.toBe(keyFor(one, [{ ...rule, names: ["{service}*"] }]));
});

test("S-ACC-05: every mistake in rules is told with its path", () => {
  const rules = [
    { identities: ["edge", "address:10.0.0.0/33", "dns:a.*.example", "spiffe://prod/{a}{b}"] },
    { identities: [], entryPoints: ["grpc"] as unknown as readonly EntryPoint[] },
    { identities: ["spiffe://prod/{a}", "anyone"], nodes: ["{a}", "{"] },
  ];
  const compiled = compileAccess({ rules }, { isSecret });
  expect("problems" in compiled && compiled.problems.map(({ path }) => path.join("."))).toEqual([
    "rules.0.identities.0",
    "rules.0.identities.1",
    "rules.0.identities.2",
    "rules.0.identities.3",
    "rules.1.identities",
    "rules.1.entryPoints.0",
    "rules.2.nodes.0",
    "rules.2.nodes.1",
  ]);
});

test("S-ACC-05: what would silently match nobody or everybody is a mistake", () => {
  const rules = [
    { identities: ["uri:spiffe://prod/a", "cn:ops", "ip:10.0.0.1"] },
    { identities: ["anyone"], node: ["a"], deny: "true" } as unknown as AccessRule,
    { identities: ["anyone"], types: ["secret", "Secret", "*", "envoy.config.cluster.v3.Cluster"], deny: true },
  ];
  const compiled = compileAccess({ rules }, { isSecret });
  expect("problems" in compiled && compiled.problems.map(({ path }) => path.join("."))).toEqual([
    "rules.0.identities.0",
    "rules.0.identities.1",
    "rules.0.identities.2",
    "rules.1.node",
    "rules.1.deny",
    "rules.2.types.0",
  ]);
});

test("a rule about a type is about its twin in the other version of the API", () => {
  const v2: TypeUrl = "type.googleapis.com/envoy.api.v2.auth.Secret";
  const rules: readonly AccessRule[] = [
    { identities: ["certificate"] },
    { identities: ["anyone"], types: [SECRET], deny: true },
  ];
  const twinOf = (type: TypeUrl): TypeUrl | undefined => (type === v2 ? SECRET : undefined);
  const policy = compileAccess({ rules }, { isSecret, twinOf });
  if ("problems" in policy) throw new Error("there are no mistakes");
  const grant = policy.grant({ entryPoint: "ads", peer: certified({ uris: [] }), node: node("n") }, ["base"]);
  if ("denied" in grant) throw new Error("it may be that node");
  expect([v2, SECRET, CLUSTER].map((type) => grant.visible("base", type))).toEqual(["none", "none", "all"]);
});

test("with loopback under the rules, anyone is nobody in particular there too", () => {
  const peer = peers["loopback"] ?? plaintext;
  const seen = (identities: readonly string[]): unknown => {
    const grant = compile([{ identities }], "rules").grant({ entryPoint: "ads", peer, node: node("n") }, ["base"]);
    return "denied" in grant ? grant : grant.visible("base", SECRET);
  };
  expect([["anyone"], ["loopback"]].map(seen)).toEqual(["none", "all"]);
});
