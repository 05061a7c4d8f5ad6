import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createEnvoyApi } from "@xdskit/envoy-api";
import { yamlLimits } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import { clientDialect } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { address, assigned, bootstrapOf, good, http2, server, told } from "../../test/support/bootstraps.ts";
import type { GrpcSource, ServerConfig } from "./client-config.ts";
import { loadBootstrap } from "./load-bootstrap.ts";

const api = createEnvoyApi();
const examples = fileURLToPath(new URL("../../test/bootstraps", import.meta.url));
const printed = fileURLToPath(new URL("../../../cli/test/golden/bootstrap", import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "xdskit-config-"));
afterAll(() => rmSync(directory, { recursive: true }));

const ads: Omit<GrpcSource, "id"> = {
  kind: "grpc",
  apiVersion: "v2",
  resourceApiVersion: "v2",
  initialFetchTimeoutMs: 15_000,
  dialect: clientDialect(),
  parameters: undefined,
  servers: [server],
  variant: "sotw",
  isAggregated: true,
  failover: "cycle",
  nodeIn: "every-request",
  rateLimit: undefined,
  backOff: { baseMs: 500, maxMs: 30_000 },
};

function configWith(source: Omit<GrpcSource, "id">): unknown {
  const named = { id: expect.stringMatching(/^ads(?:-delta)?(?:-v2)?:control_plane#\w{7}$/), ...source };
  return {
    node: { ...anonymousNode, id: "first-envoy", cluster: "first-cluster" },
    nodeBytes: undefined,
    mode: "proxy",
    ads: named,
    listeners: { source: named, locator: undefined },
    clusters: { source: named, locator: undefined },
    authorities: [],
    defaultSource: undefined,
    nodeContextParams: new Map(),
    runtimeLayers: [],
    staticResources: [
      {
        type: expect.stringMatching(/\.Cluster$/),
        name: "control_plane",
        bytes: expect.any(Uint8Array),
      },
    ],
    loadReports: undefined,
    healthChecks: undefined,
    servers: new Map(source.servers.map((each) => [each.name, each])),
  };
}

describe("the examples of the editions", () => {
  const load = (name: string): unknown => loadBootstrap({ path: join(examples, name) }, { api });

  test("E27 C-CFG-03 that of 2018: hosts, a Duration as an object, one service where a list is meant", () => {
    expect(load("v2-2018.yaml")).toEqual({ problems: [], config: configWith(ads) });
  });

  test("E27 C-CFG-03 those of 2020: the same with TCP keepalive, in delta", () => {
    const kept: ServerConfig = { ...server, connectTimeoutMs: 250, tcpKeepalive: { idleMs: 10_000 } };
    const config = configWith({ ...ads, variant: "delta", servers: [kept] });
    expect(load("v2-2020.yaml")).toEqual({ problems: [], config });
  });

  test("C-CON-01 C-CFG-06 those of today: STRICT_DNS, V3 throughout, pings every 30 s that wait 5 s, TCP keepalive", () => {
    const keepalive = { intervalMs: 30_000, timeoutMs: 5_000 };
    const kept: ServerConfig = { ...server, keepalive, tcpKeepalive: { idleMs: undefined } };
    const config = configWith({ ...ads, apiVersion: "v3", resourceApiVersion: "v3", servers: [kept] });
    expect(load("v3-2021.yaml")).toEqual({ problems: [], config });
  });

  test("C-CFG-03 lenientBootstrap off: what is no JSON of these messages is refused", () => {
    const { problems } = loadBootstrap(
      { path: join(examples, "v2-2018.yaml") },
      { api, defaults: { isLenient: false } },
    );
    expect(problems.map(({ path, message }) => [path, message])).toEqual([
      ["dynamic_resources.ads_config.grpc_services", "expected a list, got an object"],
      ["static_resources.clusters[0].connect_timeout", "expected a duration, got an object"],
    ]);
  });

  test.each(["pb", "pb_text", "json", "YML"])("C-CFG-01 a bootstrap in a file .%s is the same", (extension) => {
    for (const [name, message] of [
      ["v3-2021.yaml", "envoy.config.bootstrap.v3.Bootstrap"],
      ["v2-2018.yaml", "envoy.config.bootstrap.v2.Bootstrap"],
    ] as const) {
      const text = readFileSync(join(examples, name), "utf8");
      const value = parse(name.startsWith("v2") ? canonicalOf2018(text) : text);
      const { bytes = new Uint8Array() } = api.readMessage(message, value);
      const forms: Readonly<Record<string, string | Uint8Array>> = {
        pb: bytes,
        pb_text: api.toText(`type.googleapis.com/${message}`, bytes),
        json: JSON.stringify(value),
        YML: text,
      };
      const path = join(directory, `bootstrap.${extension}`);
      writeFileSync(path, forms[extension] ?? "");
      expect(loadBootstrap({ path }, { api })).toEqual(loadBootstrap({ path: join(examples, name) }, { api }));
    }
  });

  test("C-CFG-03 the place of a mistake inside one object where a list is meant", () => {
    const text = readFileSync(join(examples, "v2-2018.yaml"), "utf8").replace("control_plane", "control_plan");
    expect(loadBootstrap({ text }, { api }).problems).toEqual([
      {
        severity: "error",
        line: 12,
        column: 23,
        path: "dynamic_resources.ads_config.grpc_services[0].envoy_grpc.cluster_name",
        message: 'expected the name of a static cluster of the bootstrap, got "control_plan"',
        hint: 'did you mean "control_plane"?',
      },
    ]);
  });

  test("B-TYP-08 C-TYP-11 hosts of v2 beside versions of v3, as releases of both took them", () => {
    const text = readFileSync(join(examples, "v2-2018.yaml"), "utf8")
      .replace("api_type: GRPC", "api_type: GRPC\n    transport_api_version: V3")
      .replace("cds_config: { ads: {} }", "cds_config: { ads: {}, resource_api_version: V3 }");
    const { config, problems } = loadBootstrap({ text }, { api });
    expect(problems).toEqual([]);
    expect(config?.ads).toMatchObject({ apiVersion: "v3", servers: [server] });
    expect(config?.clusters?.source.resourceApiVersion).toBe("v3");
    expect(config?.listeners?.source.resourceApiVersion).toBe("v2");
  });

  test("C-CFG-05 the server's cluster may come after others", () => {
    const { config } = loadBootstrap({ path: join(examples, "v3-2021.yaml") }, { api });
    const value = parse(readFileSync(join(examples, "v3-2021.yaml"), "utf8"));
    value.static_resources.clusters.unshift({ name: "other", type: "EDS" });
    const own = expect.objectContaining({ name: "other" });
    expect(good(value)).toEqual({ ...config, staticResources: [own, ...(config?.staticResources ?? [])] });
  });
});

/** The old form as messages are written. */
function canonicalOf2018(text: string): string {
  return text
    .replace("{ seconds: 5 }", "5s")
    .replace("      envoy_grpc:\n        cluster_name:", "    - envoy_grpc:\n        cluster_name:")
    .replace("        cluster_name: control", "          cluster_name: control");
}

describe("what `xds bootstrap` prints", () => {
  const files = readdirSync(printed).filter((name) =>
    readFileSync(join(printed, name), "utf8").trimEnd().endsWith("--- exit 0"),
  );

  test("S-CFG-10 every transport and version loads, without a mistake, as what was asked for", () => {
    const seen = files.map((name) => {
      const whole = readFileSync(join(printed, name), "utf8");
      const text = whole.slice(whole.indexOf("\n") + 1, whole.lastIndexOf("--- exit"));
      const { config, problems } = loadBootstrap({ text }, { api, fileExists: () => true });
      const root = config?.clusters?.source;
      const source = root ?? config?.ads;
      const [one] = source === undefined || source.kind === "file" ? [] : source.servers;
      const kind = source?.kind === "grpc" ? `${source.variant}${source.isAggregated ? " ads" : ""}` : source?.kind;
      const where =
        source?.kind === "file" ? source.path : `${one?.target} ${one?.tls === undefined ? "plain" : "tls"}`;
      return [name.replace(".txt", ""), problems.length, config?.mode, kind, source?.resourceApiVersion, where].join(
        " ",
      );
    });
    expect(seen).toMatchInlineSnapshot(`
      [
        "envoy-file-format 0 proxy file v3 /etc/envoy/cds.pb_text",
        "envoy-locality 0 proxy delta ads v3 ipv4:127.0.0.1:18000 plain",
        "envoy-mutual-tls 0 proxy delta ads v3 ipv4:127.0.0.1:18000 tls",
        "envoy-tls-by-name 0 proxy delta ads v3 dns:///xds.example:18000 tls",
        "envoy-v2-ads-delta 0 proxy delta ads v2 ipv4:127.0.0.1:18000 plain",
        "envoy-v2-ads 0 proxy sotw ads v2 ipv4:127.0.0.1:18000 plain",
        "envoy-v2-delta 0 proxy delta v2 ipv4:127.0.0.1:18000 plain",
        "envoy-v2-file 0 proxy file v2 /etc/envoy/xds/cds.yaml",
        "envoy-v2-grpc 0 proxy sotw v2 ipv4:127.0.0.1:18000 plain",
        "envoy-v2-rest-tls 0 proxy rest v2 dns:///xds.example:18000 tls",
        "envoy-v2-rest 0 proxy rest v2 ipv4:127.0.0.1:18000 plain",
        "envoy-v3-ads-delta 0 proxy delta ads v3 ipv4:127.0.0.1:18000 plain",
        "envoy-v3-ads 0 proxy sotw ads v3 ipv4:127.0.0.1:18000 plain",
        "envoy-v3-delta 0 proxy delta v3 ipv4:127.0.0.1:18000 plain",
        "envoy-v3-file 0 proxy file v3 /etc/envoy/xds/cds.yaml",
        "envoy-v3-grpc 0 proxy sotw v3 ipv4:127.0.0.1:18000 plain",
        "envoy-v3-rest 0 proxy rest v3 ipv4:127.0.0.1:18000 plain",
        "grpc-mutual-tls 0 non-proxy sotw ads v3 127.0.0.1:18000 tls",
        "grpc-tls 0 non-proxy sotw ads v3 [::1]:443 tls",
        "grpc-v2 0 non-proxy sotw ads v3 127.0.0.1:18000 plain",
        "grpc 0 non-proxy sotw ads v3 127.0.0.1:18000 plain",
      ]
    `);
  });
});

describe("mistakes", () => {
  test("C-CFG-04 all of them are told at once, with their places", () => {
    const { config, problems } = loadBootstrap({ path: join(examples, "bad.yaml") }, { api });
    expect(config).toBeUndefined();
    const lines = problems.map(({ severity, line, column, path, message, hint }) =>
      [`${line}:${column}`, severity, `${path}:`, message, ...(hint === undefined ? [] : [`(${hint})`])].join(" "),
    );
    expect(lines).toMatchInlineSnapshot(`
      [
        "3:12 error node.clutser: expected a field of envoy.config.core.v3.Node, got "clutser" (did you mean "cluster"?)",
        "6:15 error dynamic_resources.ads_config.api_type: expected GRPC or DELTA_GRPC, got REST: there is no ADS over REST",
        "11:27 error dynamic_resources.cds_config.resource_api_version: expected one of AUTO, V2, V3, got "V4" (did you mean "V2"?)",
        "12:5 error dynamic_resources.cds_config.api_config_source.refresh_delay: expected a refresh_delay, which REST has no default for (write how long to wait between two polls, such as 5s)",
        "15:23 error dynamic_resources.cds_config.api_config_source.cluster_names[0]: expected the name of a static cluster of the bootstrap, got "poler" (did you mean "poller"?)",
        "16:24 error dynamic_resources.cds_config.api_config_source.request_timeout: expected a request_timeout above 0, got 0s",
        "19:7 warning static_resources.clusters[0]: expected a cluster that speaks HTTP/2, as gRPC wants it: Envoy would speak HTTP/1.1 with it (set http2_protocol_options)",
        "27:48 error static_resources.clusters[0].load_assignment.endpoints[0].lb_endpoints[0].endpoint.address.socket_address.address: expected an IP address in a STATIC cluster, got "poller.example" (a name is looked up where the type is STRICT_DNS)",
        "29:13 error static_resources.clusters[1].type: expected a STATIC, STRICT_DNS or LOGICAL_DNS cluster, got EDS (who is to be asked for endpoints would have to be asked for its own)",
        "30:18 warning static_resources.clusters[1].lb_policy: expected one of ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, MAGLEV, CLUSTER_PROVIDED, LOAD_BALANCING_POLICY_CONFIG, got "NONE_OF_IT" (what is newer than this version, or private, needs its descriptors)",
        "34:16 warning stats_sinks[0].typed_config["@type"]: expected a type that is known, got "type.googleapis.com/example.Sink" (add its descriptors, or give the message encoded: in a .pb file, or as "value" in base64)",
        "43:33 error config_sources[0].path_config_source.path: expected a path that exists, got "/nowhere/lds.yaml"",
      ]
    `);
    expect(new Set(problems.map(({ file }) => file))).toEqual(new Set([join(examples, "bad.yaml")]));
  });

  test.each<[string, string, unknown]>([
    ["YAML that ends in the middle", "a: [1", { line: 1, column: 6, path: "" }],
    [
      "two documents",
      "node: {}\n...\nnode: {}",
      { line: 3, column: 1, hint: "leave out lines of nothing but `...` or `---`" },
    ],
    [
      "a key twice",
      "node: {}\nnode: {}",
      { line: 2, column: 1, message: "expected YAML or JSON that can be read: map keys must be unique" },
    ],
    ["an alias of nothing", "node: *x", { message: expect.stringContaining("unresolved alias") }],
    [
      "a text that is too long",
      `#${" ".repeat(yamlLimits.characters)}`,
      { message: `expected at most ${yamlLimits.characters} characters, got ${yamlLimits.characters + 1}` },
    ],
    ["nothing", "", { message: "expected an object: the bootstrap of an Envoy, or of a gRPC client" }],
    ["no object", "[1]", { message: "expected an object: the bootstrap of an Envoy, or of a gRPC client" }],
  ])("C-CFG-01 %s has a place", (_, text, problem) => {
    const { config, problems } = loadBootstrap({ text, file: "envoy.yaml" }, { api });
    expect(config).toBeUndefined();
    expect(problems).toEqual([
      expect.objectContaining({ severity: "error", file: "envoy.yaml", ...(problem as object) }),
    ]);
  });

  test("C-CFG-01 an anchor may be used as often as in the files of a directory", () => {
    const text = `a: &a {}\nb: [${Array.from({ length: 5_000 }, () => "*a").join(", ")}]`;
    const { problems } = loadBootstrap({ text, file: "envoy.yaml" }, { api });
    expect(problems.map(({ message }) => message)).toEqual([
      'expected a field of envoy.config.bootstrap.v3.Bootstrap, got "a"',
      'expected a field of envoy.config.bootstrap.v3.Bootstrap, got "b"',
    ]);
  });

  test("C-CFG-01 what is no YAML at all is not told line by line", () => {
    const text = "[a](b) & `c`: *d*\n".repeat(100);
    const { problems } = loadBootstrap({ text, file: "README.md" }, { api });
    expect(problems.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });

  test("C-CFG-01 a file that is not there, and one that is cut off", () => {
    const missing = loadBootstrap({ path: join(directory, "none.yaml") }, { api });
    expect(missing.problems).toEqual([
      { severity: "error", path: "", file: join(directory, "none.yaml"), message: "there is no such file" },
    ]);
    for (const extension of ["pb", "pb_text"]) {
      const path = join(directory, `cut.${extension}`);
      writeFileSync(path, new Uint8Array([10, 200, 1]));
      expect(loadBootstrap({ path }, { api }).problems).toHaveLength(1);
    }
  });

  test("C-CFG-04 JSON has places too, and names as it spells them", () => {
    const text = '{\n\t"dynamicResources": {\n\t\t"ldsConfig": {"ads": {}}\n\t}\n}';
    expect(loadBootstrap({ text }, { api }).problems).toEqual([
      {
        severity: "error",
        line: 3,
        column: 17,
        path: "dynamicResources.ldsConfig.ads",
        message: "expected an ads_config in dynamic_resources, which ads stands for",
      },
    ]);
  });

  test("C-FS-11 a path that is missing is a mistake", () => {
    const value = { dynamic_resources: { lds_config: { path: join(directory, "lds.yaml") } } };
    expect(loadBootstrap({ value }, { api }).problems).toEqual([
      {
        severity: "error",
        path: "dynamic_resources.lds_config.path",
        message: `expected a path that exists, got ${JSON.stringify(join(directory, "lds.yaml"))}`,
      },
    ]);
  });

  test("an extension that nobody knows is left out", () => {
    const config_validators = [{ name: "mine", typed_config: { "@type": "type.googleapis.com/example.Mine", x: 1 } }];
    expect(told(bootstrapOf({ ...http2, ...assigned(address("1.1.1.1")) }, { config_validators }))).toEqual([
      'warning dynamic_resources.ads_config.config_validators[0].typed_config["@type"]: expected a type that is known, got "type.googleapis.com/example.Mine"',
    ]);
  });

  test("what is no matter of a client is warned of, and keeps nothing from being used", () => {
    expect(told({ stats_sinks: [{ name: "x", nmae: 1 }], admin: { port: 1 } })).toEqual([
      'warning stats_sinks[0].nmae: expected a field of envoy.config.metrics.v3.StatsSink, got "nmae"',
      'warning admin.port: expected a field of envoy.config.bootstrap.v3.Admin, got "port"',
    ]);
    expect(told({ dynamic_resource: {} })[0]).toMatch(/^error dynamic_resource: expected a field/);
  });

  test("any JSON value is a configuration or a list of mistakes", () => {
    const names = ["node", "dynamic_resources", "ads_config", "lds_config", "api_config_source", "grpc_services", "envoy_grpc",
      "cluster_name", "static_resources", "clusters", "secrets", "load_assignment", "config_sources", "xds_servers", "server_uri",
      "channel_creds", "authorities", "server_features", "transport_socket", "connect_timeout", "node_context_params", "metadata",
      "path", "__proto__", "seconds", "api_type", "hosts", "type", "name"]; // biome-ignore format: a list
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: "medium", withCrossShrink: true },
        fc.constantFrom(null, true, 1, "", "GRPC", "5s", "EDS", "x"),
        fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 5 }),
        fc.array(tie("value"), { maxLength: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.oneof(value, fc.jsonValue()), (bootstrap) => {
        const { config, problems } = loadBootstrap(
          { text: JSON.stringify(bootstrap) },
          { api, fileExists: () => true },
        );
        expect(config === undefined).toBe(problems.some(({ severity }) => severity === "error"));
        loadBootstrap({ value: bootstrap, form: "grpc" }, { api });
      }),
      { numRuns: 500 },
    );
  });

  test.each(["{", "[", "- ", "? ", "a: {"])("a text of 100,000 times %j is too deep, and no more", (unit) => {
    expect(loadBootstrap({ text: unit.repeat(100_000) }, { api }).problems).toMatchObject([
      { line: 1, message: "expected at most 200 levels of nesting, got more" },
    ]);
  });

  test("blocks, values and circles that are too deep", () => {
    const flow = `node: [\n${"{id: a, cluster: b},\n".repeat(20_000)}]\n`;
    const text = Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("");
    const deep = Array.from({ length: 5_000 }).reduce<unknown>((inner) => ({ metadata: inner }), 1);
    const circle: Record<string, unknown> = {};
    circle["node"] = circle;
    for (const input of [{ text: flow }, { text }, { value: deep }, { value: circle }]) {
      const { problems } = loadBootstrap(input, { api });
      expect(problems.map(({ message }) => message)).toEqual(["expected at most 200 levels of nesting, got more"]);
    }
  });

  test("what is wrong with a text is told without the text, which may be a secret", () => {
    for (const text of [
      'a: b\n"pass"word',
      "a: 'x' secret",
      "node: *secret",
      '{"a": secret "x"}',
      "a: %secret",
      "- a\nsecret",
    ]) {
      const { problems } = loadBootstrap({ text }, { api });
      expect(problems).not.toEqual([]);
      expect(JSON.stringify(problems)).not.toMatch(/secret|word/);
    }
  });

  test("a value of a program that is no JSON", () => {
    expect(loadBootstrap({ value: () => 1 }, { api }).problems).toHaveLength(1);
    expect(loadBootstrap({ value: { node: { id: 1n } } }, { api }).problems).toHaveLength(1);
  });
});
