import { createEnvoyApi } from "@xdskit/envoy-api";
import { createDirectorySource, type Problem, type Progress, problemCounts, readSettings } from "@xdskit/source";
import { describe, expect, test } from "vitest";
import { cluster, temporaryDirectory, write } from "./support/temporary-directory.ts";

const api = createEnvoyApi();

function codes(problems: readonly Problem[]): readonly string[] {
  return problems.map(({ severity, code, file, path }) => `${severity} ${code} ${file} ${path ?? ""}`.trim());
}

test("of very many problems in all, a bounded number is told, and the counts are true", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [`${String.fromCharCode(97 + i)}.yaml`, "- {}\n".repeat(1_001)]),
  );
  const source = createDirectorySource({ directory: temporaryDirectory(files), api });
  const { problems } = await source.load();
  expect([problems.length, problems[0]]).toEqual([
    10_001,
    {
      ...{ code: "PROBLEMS_CUT", severity: "error", file: ".", message: "and 2,012 more errors" },
      ...{ hint: "correct those that are shown first", omitted: { errors: 2_012, warnings: 0 } },
    },
  ]);
  expect(problemCounts(problems)).toEqual({ errors: 12_012, warnings: 0 });
});

describe("validation rules of Envoy's messages", () => {
  // The path must have at least one character, and the interval must be more than nothing.
  const text = `${cluster("a")}per_connection_buffer_limit_bytes: 1
health_checks:
  - timeout: 1s
    interval: 1s
    healthy_threshold: 1
    unhealthy_threshold: 1
    no_traffic_interval: 0s
    http_health_check: { path: "" }
`;

  test.each([
    [undefined, ["warning"], true],
    ["warn", ["warning"], true],
    ["reject", ["error"], false],
    ["off", [], true],
  ] as const)("at level %s", async (validation, severities, isLoaded) => {
    const directory = temporaryDirectory({ "a.yaml": text });
    const load = await createDirectorySource({ directory, api, ...(validation && { validation }) }).load();
    const found = load.problems.filter(({ code }) => code.startsWith("PGV_"));
    expect([...new Set(found.map(({ severity }) => severity))]).toEqual(severities);
    expect(load.state !== undefined).toBe(isLoaded);
    for (const { line, path } of found)
      expect([line !== undefined, path?.startsWith("health_checks[0]")]).toEqual([true, true]);
  });

  test("a field is found under the name it has in the file, and in a Resource around it", async () => {
    const json = {
      "@type": "type.googleapis.com/envoy.service.discovery.v3.Resource",
      name: "a",
      resource: {
        "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
        name: "a",
        connectTimeout: "1s",
        outlierDetection: { maxEjectionPercent: 101 },
      },
    };
    const directory = temporaryDirectory({ "a.json": JSON.stringify(json, null, 2) });
    const { problems } = await createDirectorySource({ directory, api }).load();
    expect(problems.filter(({ code }) => code.startsWith("PGV_")).map(({ line, path }) => [line, path])).toEqual([
      [9, "resource.outlierDetection.maxEjectionPercent"],
    ]);
  });

  test("the level may be set in the directory, and what is given to the source goes first", async () => {
    const directory = temporaryDirectory({ "a.yaml": text, "xdskit.yaml": "validation: reject\n" });
    const source = createDirectorySource({ directory, api });
    expect((await source.load()).state).toBeUndefined();
    expect((await createDirectorySource({ directory, api, validation: "warn" }).load()).state).toBeDefined();
    write(directory, "xdskit.yaml", "validation: off\n");
    expect((await source.load()).problems).toEqual([]);
  });
});

test("a reference is satisfied by what a node sees together with it, not by the layer of another node", async () => {
  const eds = (name: string): string => `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
name: ${name}
connect_timeout: 1s
type: EDS
eds_cluster_config: { eds_config: { ads: {}, resource_api_version: V3 } }
`;
  const endpoints = (
    name: string,
  ): string => `"@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
cluster_name: ${name}
endpoints:
  - locality: { region: r }
    load_balancing_weight: 1
    lb_endpoints: [{ endpoint: { address: { socket_address: { address: 127.0.0.1, port_value: 1 } } } }]
`;
  const directory = temporaryDirectory({
    "a.yaml": `${eds("in-a-node")}---\n${eds("in-a-group")}---\n${endpoints("for-a-node")}`,
    "groups/g/e.yaml": endpoints("in-a-group"),
    "nodes/n1/e.yaml": `${endpoints("in-a-node")}---\n${eds("for-a-node")}---\n${eds("elsewhere")}`,
    "nodes/n2/e.yaml": endpoints("elsewhere"),
    "xdskit.yaml": "groups: [{ name: g, match: { id: '*' } }]\n",
  });
  const { problems } = await createDirectorySource({ directory, api }).load();
  expect(codes(problems)).toEqual(["warning REFERENCE_DANGLING nodes/n1/e.yaml name"]);
});

test("the place of a problem between files is found again after its file has changed", async () => {
  const directory = temporaryDirectory({ "a.yaml": cluster("same"), "b.yaml": `# one line\n${cluster("same")}` });
  const source = createDirectorySource({ directory, api });
  const place = async (): Promise<unknown> =>
    (await source.load()).problems.map(({ file, line, column, related }) => [file, line, column, related?.line]);
  expect(await place()).toEqual([["b.yaml", 3, 7, 2]]);
  write(directory, "b.yaml", `# one line\n# and another\n${cluster("same")}`);
  expect(await place()).toEqual([["b.yaml", 4, 7, 2]]);
});

test("progress is told, the end of it always", async () => {
  const files = Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`${n}.yaml`, cluster(`c-${n}`)]));
  const told: Progress[] = [];
  await createDirectorySource({ directory: temporaryDirectory(files), api }).load((progress) => told.push(progress));
  expect(told.at(-1)).toEqual({ filesRead: 300, filesTotal: 300, resources: 300 });
});

test("ten thousand resources in one file, of which one changes", async () => {
  const text = (changed: number): string =>
    Array.from(
      { length: 10_000 },
      (_, n) =>
        `- ${cluster(`c-${n}`, n === changed ? "9s" : "1s")
          .trimEnd()
          .replaceAll("\n", "\n  ")}\n`,
    ).join("");
  const directory = temporaryDirectory({ "a.yaml": text(-1) });
  const source = createDirectorySource({ directory, api });
  const first = await source.load();
  expect([first.problems, first.state?.resources]).toEqual([[], 10_000]);
  write(directory, "a.yaml", text(5000));
  const second = await source.load();
  const before = new Set(first.state?.layers.get("base"));
  expect(
    second.state?.layers
      .get("base")
      ?.filter((resource) => !before.has(resource))
      .map(({ name }) => name),
  ).toEqual(["c-5000"]);
});

test("settings are read by themselves, before anything is known about resources", async () => {
  const directory = temporaryDirectory({
    "xdskit.yaml": "# mine\nlisten: :1\nlog.level: debug\n",
    "a.yaml": "broken: [",
  });
  const { settings, places } = await readSettings(directory);
  expect(settings).toEqual({ listen: ":1", "log.level": "debug" });
  expect(places).toEqual({ listen: { line: 2, column: 9 }, "log.level": { line: 3, column: 12 } });
  write(directory, "xdskit.yaml", "");
  expect(await readSettings(directory)).toEqual({
    settings: {},
    places: {},
    groups: [],
    clients: [],
    listeners: [],
    problems: [],
  });
  expect(await readSettings(`${directory}/nowhere`)).toEqual({
    settings: {},
    places: {},
    groups: [],
    clients: [],
    listeners: [],
    problems: [],
  });
});

describe("what has an error in its file", () => {
  const routes = `"@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
name: r
virtual_hosts:
  - { name: v, domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: hello } }] }
`;
  const others = (problems: readonly Problem[]): readonly Problem[] =>
    problems.filter(({ file }) => file === "routes.yaml");

  test("S-ORD-09 a route to a cluster that does not exist is told", async () => {
    const directory = temporaryDirectory({ "clusters.yaml": cluster("other"), "routes.yaml": routes });
    const { state, problems } = await createDirectorySource({ directory, api }).load();
    expect(codes(problems)).toContain(
      "warning REFERENCE_DANGLING routes.yaml virtual_hosts[0].routes[0].route.cluster",
    );
    expect(state?.resources).toBe(2);
  });

  test.each([
    ["a misspelt field", `${cluster("hello")}conect_timeout: 1s\n`],
    ["a misspelt type", cluster("hello").replace("Cluster", "Clustr")],
    ["a misspelt name", cluster("hello").replace("name:", "nmae:")],
    [
      "an error in a Resource around it",
      `name: hello\nresource: { "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, x: 1 }\n`,
    ],
    ["no type", cluster("hello").replace(/^.*\n/, "")],
    ["a mistake of syntax", `${cluster("hello")}x: [\n`],
    ["nothing in it yet", ""],
  ])("is not missed for %s", async (_, text) => {
    const directory = temporaryDirectory({ "clusters.yaml": text, "routes.yaml": routes });
    const source = createDirectorySource({ directory, api });
    const { state, problems } = await source.load();
    expect([state, others(problems)]).toEqual([undefined, []]);
    // Once it is mended, what is missing is told.
    write(directory, "clusters.yaml", cluster("other"));
    expect(codes(others((await source.load()).problems))).toEqual([
      "warning REFERENCE_DANGLING routes.yaml virtual_hosts[0].routes[0].route.cluster",
    ]);
  });

  test.each([
    ["another name", cluster("other")],
    ["another type", `"@type": type.googleapis.com/envoy.config.listener.v3.Listener\nname: hello\n`],
  ])("is no excuse for %s", async (_, text) => {
    const directory = temporaryDirectory({ "a.yaml": `${text}misspelt: 1\n`, "routes.yaml": routes });
    const { problems } = await createDirectorySource({ directory, api }).load();
    expect(codes(others(problems))).toEqual([
      "warning REFERENCE_DANGLING routes.yaml virtual_hosts[0].routes[0].route.cluster",
    ]);
  });
});

test("of unknown settings, the hint lists those of the same group", async () => {
  const directory = temporaryDirectory({ "xdskit.yaml": "log: { colour: true }\ntls.version: 3\nnothing.at-all: 1\n" });
  const hints = (await readSettings(directory)).problems.map(({ hint }) => hint);
  expect(hints.slice(0, 2)).toEqual([
    "there are log.level, log.format",
    "there are tls.cert, tls.key, tls.ca, tls.crl, tls.require-client-certificate",
  ]);
  expect(hints[2]).toMatch(/^there are listen, .*, groups, listeners, clients, access, severity$/);
});

test("a type that does not exist is an error in an access rule that denies, and a warning in one that allows", async () => {
  const rules = (deny: boolean): string =>
    JSON.stringify({
      access: { rules: [{ identities: ["anyone"], types: ["Secrets", "Secret"], layers: ["group/later"], deny }] },
    });
  const at = async (deny: boolean) => {
    const directory = temporaryDirectory({ "a.yaml": cluster("a"), "xdskit.yaml": rules(deny) });
    const { problems, state } = await createDirectorySource({ directory, api }).load();
    const found = problems.filter(({ path }) => path?.startsWith("access") === true);
    return [state !== undefined, ...codes(found), ...found.map(({ hint }) => hint)];
  };
  const layer = "warning ACCESS_NAME_UNKNOWN xdskit.yaml access.rules[0].layers[0]";
  const type = "xdskit.yaml access.rules[0].types[0]";
  const meant = 'did you mean "Secret"?';
  expect(await at(true)).toEqual([
    ...[false, `error SETTING_INVALID ${type}`, layer],
    ...[meant, "the rule denies nothing of it"],
  ]);
  expect(await at(false)).toEqual([
    ...[true, `warning ACCESS_NAME_UNKNOWN ${type}`, layer],
    ...[meant, "the rule gives nothing of it"],
  ]);
});

test("names in access rules that no resource has are told, and what is no type at all only once", async () => {
  const names = ["a", "{s}/*", "b*", "x?"];
  const rule = { identities: ["spiffe://prod/{s}"], names, types: ["sds"] };
  const directory = temporaryDirectory({
    "a.yaml": cluster("a"),
    "edge.yaml": cluster("edge/key"),
    "xdskit.yaml": JSON.stringify({ access: { rules: [rule, { identities: ["anyone"], names: ["ab"], deny: true }] } }),
  });
  const { problems } = await createDirectorySource({ directory, api }).load();
  const found = problems.filter(({ path }) => path?.startsWith("access") === true);
  expect(found.map(({ severity, code, path, message, hint }) => [severity, code, path, message, hint])).toEqual([
    [
      ...["warning", "ACCESS_NAME_UNKNOWN", "access.rules[0].names[2]"],
      ...['no resource has a name that "b*" matches', "the rule gives nothing of it"],
    ],
    [
      ...["error", "SETTING_INVALID", "access.rules[0].types[0]"],
      ...['expected a message name such as "Secret", its type URL or "*", got "sds"', undefined],
    ],
    [
      ...["warning", "ACCESS_NAME_UNKNOWN", "access.rules[1].names[0]"],
      ...['no resource has a name that "ab" matches', "the rule denies nothing of it"],
    ],
  ]);
});
