import { describe, expect, it, test } from "vitest";
import { api, lines, typed, url, V3 } from "./support/api.ts";

const ADD = "what is newer than this version, or private, needs its descriptors: --descriptors FILE";

function problemsOf(message: string, fields: object): readonly string[] {
  const { input, problems } = api.readResource(typed(message, fields));
  expect(input).toBeUndefined();
  return lines(problems);
}

describe("every problem of a resource is found at once (B-VAL-04)", () => {
  it("in one cluster", () => {
    const fields = {
      nam: "x",
      connect_timeout: 5,
      type: "EDSS",
      lb_policy: "random",
      load_assignment: { cluster_name: 5, endpoints: {} },
      per_connection_buffer_limit_bytes: -1,
      metadata: { filter_metadata: { a: { b: Number.NaN } } },
      typed_extension_protocol_options: { a: { "@type": "type.googleapis.com/foo.Bar" }, b: { c: 1 } },
      dns_lookup_family: 77,
      respect_dns_ttl: "true",
    };
    expect(problemsOf(V3.cluster, fields)).toEqual([
      'error FIELD_UNKNOWN nam: expected a field of envoy.config.cluster.v3.Cluster, got "nam"',
      "error DURATION_INVALID connect_timeout: expected a duration, got the number 5",
      'error ENUM_UNKNOWN type: expected one of STATIC, STRICT_DNS, LOGICAL_DNS, EDS, ORIGINAL_DST, got "EDSS"',
      'error ENUM_UNKNOWN lb_policy: expected one of ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, MAGLEV, CLUSTER_PROVIDED, LOAD_BALANCING_POLICY_CONFIG, got "random"',
      "error FIELD_WRONG_TYPE load_assignment.cluster_name: expected a string, got the number 5",
      "error FIELD_WRONG_TYPE load_assignment.endpoints: expected a list, got an object",
      "error NUMBER_INVALID per_connection_buffer_limit_bytes: expected an integer from 0 to 4294967295, got the number -1",
      "error NUMBER_INVALID metadata.filter_metadata.a.b: expected a finite number, got the number NaN",
      'error TYPE_UNKNOWN typed_extension_protocol_options.a.@type: expected a type that is known, got "type.googleapis.com/foo.Bar"',
      "error TYPE_MISSING typed_extension_protocol_options.b: expected @type, got none",
      'error FIELD_WRONG_TYPE respect_dns_ttl: expected true or false, got "true"',
      "error RESOURCE_UNNAMED : expected a name, got none",
    ]);
  });

  it.each<[string, string, object, readonly string[]]>([
    ["no name", V3.cluster, {}, ["error RESOURCE_UNNAMED : expected a name, got none"]],
    [
      "a name of the wrong type, told of once",
      V3.cluster,
      { name: 5 },
      ["error FIELD_WRONG_TYPE name: expected a string, got the number 5"],
    ],
    [
      "a field under both of its names",
      V3.cluster,
      { name: "a", connectTimeout: "1s", connect_timeout: "2s" },
      [
        'error FIELD_DUPLICATE connectTimeout: expected the field once, got it as "connect_timeout" and as "connectTimeout"',
      ],
    ],
    [
      "two members of a oneof",
      V3.route,
      {
        name: "r",
        virtual_hosts: [
          { name: "v", domains: ["*"], routes: [{ match: { prefix: "/", path: "/x" }, route: { cluster: "c" } }] },
        ],
      },
      [
        'error ONEOF_CONFLICT virtual_hosts.0.routes.0.match.path: expected only one of prefix, path, safe_regex, connect_matcher, path_separated_prefix, path_match_policy, got "prefix" as well',
      ],
    ],
    [
      "two members of a oneof in camelCase",
      V3.route,
      {
        name: "r",
        virtualHosts: [
          { name: "v", domains: ["*"], routes: [{ match: { prefix: "/", safeRegex: {} }, route: { cluster: "c" } }] },
        ],
      },
      [
        'error ONEOF_CONFLICT virtualHosts.0.routes.0.match.safeRegex: expected only one of prefix, path, safeRegex, connectMatcher, pathSeparatedPrefix, pathMatchPolicy, got "prefix" as well',
      ],
    ],
    [
      "null in a list",
      V3.route,
      { name: "r", virtual_hosts: [null] },
      ["error FIELD_WRONG_TYPE virtual_hosts.0: expected an object, got null"],
    ],
    [
      "bytes that are no base64",
      V3.extension,
      { name: "e", typed_config: { "@type": "type.googleapis.com/google.protobuf.BytesValue", value: "?" } },
      ['error BYTES_INVALID typed_config.value: expected bytes in base64, got "?"'],
    ],
    [
      "a timestamp without zone",
      V3.extension,
      {
        name: "e",
        typed_config: { "@type": "type.googleapis.com/google.protobuf.Timestamp", value: "2020-01-01T00:00:00" },
      },
      ['error TIMESTAMP_INVALID typed_config.value: expected a timestamp, got "2020-01-01T00:00:00"'],
    ],
    [
      "an integer too long for a number",
      V3.extension,
      {
        name: "e",
        typed_config: { "@type": "type.googleapis.com/google.protobuf.Int64Value", value: 2 ** 53 },
      },
      [
        "error NUMBER_INVALID typed_config.value: expected an integer of at most 53 bits unless in quotes, got the number 9007199254740992",
      ],
    ],
    [
      "a number that is no integer",
      V3.endpoints,
      { cluster_name: "c", policy: { overprovisioning_factor: 1.5 } },
      ["error NUMBER_INVALID policy.overprovisioning_factor: expected an integer, got the number 1.5"],
    ],
    [
      "half of a surrogate pair",
      V3.cluster,
      { name: "a\ud800" },
      ["error STRING_INVALID name: expected Unicode text, got a string with half of a surrogate pair"],
    ],
    [
      "a map that is none",
      V3.cluster,
      { name: "c", typed_extension_protocol_options: [] },
      ["error FIELD_WRONG_TYPE typed_extension_protocol_options: expected an object, got a list"],
    ],
    [
      "a Map as a map",
      V3.cluster,
      { name: "c", metadata: { filter_metadata: new Map([["envoy.lb", { canary: true }]]) } },
      ["error FIELD_WRONG_TYPE metadata.filter_metadata: expected a plain object, got a Map"],
    ],
    [
      "a Map as an Any",
      V3.cluster,
      { name: "c", typed_extension_protocol_options: { a: new Map([["@type", "x"]]) } },
      ["error FIELD_WRONG_TYPE typed_extension_protocol_options.a: expected a plain object, got a Map"],
    ],
    [
      "a Map as a Struct",
      V3.runtime,
      { name: "r", layer: new Map([["key", "value"]]) },
      ["error FIELD_WRONG_TYPE layer: expected a plain object, got a Map"],
    ],
    [
      "a Date, a Set and bytes in a Struct",
      V3.runtime,
      { name: "r", layer: { at: new Date(0), all: [new Set(["a"])], bytes: new Uint8Array(1) } },
      [
        "error FIELD_WRONG_TYPE layer.all.0: expected a plain object, got a Set",
        "error FIELD_WRONG_TYPE layer.at: expected a plain object, got a Date",
        "error FIELD_WRONG_TYPE layer.bytes: expected a plain object, got a Uint8Array",
      ],
    ],
    [
      "a field mask with a name of the proto file",
      V3.extension,
      { name: "e", typed_config: { "@type": "type.googleapis.com/google.protobuf.FieldMask", value: "snake_case" } },
      ['error FIELD_MASK_INVALID typed_config.value: expected a field mask, got "snake_case"'],
    ],
  ])("%s", (_, message, fields, expected) => {
    expect(problemsOf(message, fields)).toEqual(expected);
  });

  it.each<[string, unknown, readonly string[]]>([
    ["a string", "x", ['error FIELD_WRONG_TYPE : expected an object with @type, got "x"']],
    ["nothing", undefined, ["error FIELD_WRONG_TYPE : expected an object with @type, got nothing"]],
    ["an object without @type", { name: "x" }, ["error TYPE_MISSING : expected @type, got none"]],
    ["an empty object", {}, ["error TYPE_MISSING : expected @type, got none"]],
    [
      "a @type that is no string",
      { "@type": 5 },
      ["error FIELD_WRONG_TYPE @type: expected a type URL, got the number 5"],
    ],
  ])("%s is no resource", (_, value, expected) => {
    expect(lines(api.readResource(value).problems)).toEqual(expected);
  });

  test("B-TTL-19 a ttl that is none", () => {
    const resource = typed(V3.runtime, { name: "r" });
    expect(["0s", "-1s"].map((ttl) => problemsOf(V3.wrapper, { name: "r", ttl, resource }))).toEqual([
      ["error DURATION_INVALID ttl: expected a ttl of more than 0, got 0s"],
      ["error DURATION_INVALID ttl: expected a ttl of more than 0, got -1s"],
    ]);
    const encoded = (ttlMs: number): unknown => {
      const { input, problems } = api.readEncodedResource(url(V3.runtime), new Uint8Array(), { name: "r", ttlMs });
      return [input, lines(problems)];
    };
    expect([0, 400_000_000_000_000].map(encoded)).toEqual([
      [undefined, ["error DURATION_INVALID ttl: expected a ttl of more than 0, got 0s"]],
      [undefined, ["error DURATION_INVALID ttl: expected a ttl of at most 10000 years, got a longer one"]],
    ]);
  });

  it("a ttl that an ordinary delay outlasts", () => {
    const resource = typed(V3.runtime, { name: "r" });
    const { input, problems } = api.readResource(typed(V3.wrapper, { name: "r", ttl: "0.5s", resource }));
    expect([input?.ttlMs, lines(problems)]).toEqual([
      500,
      ["warning TTL_SHORT ttl: expected a ttl of 1s or more, got 0.5s: a pause on the way lets it expire"],
    ]);
  });

  it("a wrapper without a resource", () => {
    expect(problemsOf(V3.wrapper, { name: "x", ttl: "0s" })).toEqual([
      "error DURATION_INVALID ttl: expected a ttl of more than 0, got 0s",
      "error TYPE_MISSING resource: expected a resource in the wrapper, got none",
    ]);
  });
});

describe("hints say what to do", () => {
  it.each<[string, object, readonly (string | undefined)[]]>([
    ["the nearest field", { name: "c", connect_timeot: "1s" }, [`did you mean "connect_timeout"?`]],
    ["a newer field", { name: "c", brand_new_thing: 1 }, [ADD]],
    ["the nearest value, in another case", { name: "c", type: "eds" }, [`did you mean "EDS"?`]],
    ["a duration given as a number", { name: "c", connect_timeout: 0.25 }, ['write "0.25s"']],
    ["a number where text is wanted", { name: 1 }, ["put it in quotes"]],
    [
      "the nearest type",
      {
        name: "c",
        transport_socket: {
          name: "t",
          typed_config: { "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContex" },
        },
      },
      [`did you mean "envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext"?`],
    ],
    [
      "a type that is like no other",
      { name: "c", transport_socket: { name: "t", typed_config: { "@type": "type.googleapis.com/acme.Quux" } } },
      [
        'add its descriptors with --descriptors FILE, or give the message encoded: in a .pb file, or as "value" in base64',
      ],
    ],
  ])("%s", (_, fields, expected) => {
    expect(api.readResource(typed(V3.cluster, fields)).problems.map(({ hint }) => hint)).toEqual(expected);
  });

  it.each<[string, (i: number) => object, number]>([
    ["of very many mistakes, near names are looked for of the first", (i) => ({ [`timeout${i}`]: "1s" }), 100],
    ["a mistake that repeats has its near name each time", () => ({ timeot: "1s" }), 150],
  ])("%s", (_, healthCheck, found) => {
    const health_checks = Array.from({ length: 150 }, (_, i) => healthCheck(i));
    const { problems } = api.readResource(typed(V3.cluster, { name: "c", health_checks }));
    const [near, none] = ['did you mean "timeout"?', ADD].map((hint) => problems.filter((one) => one.hint === hint));
    expect([near?.length, none?.length]).toEqual([found, 150 - found]);
  });
});

describe("a value that is nested too deep", () => {
  it.each<[string, (inner: unknown) => unknown, unknown]>([
    ["in lists of a Struct", (inner) => [inner], 1],
    ["in objects of a Struct", (inner) => ({ a: inner }), 1],
  ])("%s has one clean problem", (_, wrap, leaf) => {
    let value: unknown = leaf;
    for (let level = 0; level < 20_000; level++) value = wrap(value);
    expect(problemsOf(V3.runtime, { name: "r", layer: { a: value } })).toEqual([
      expect.stringMatching(
        /^error NESTING_TOO_DEEP layer\.a\.\S+: expected at most 100 levels of messages in messages, got more$/,
      ),
    ]);
  });

  it("in messages of one type", () => {
    let match: object = { any: true };
    for (let level = 0; level < 20_000; level++) match = { not_rule: match };
    const rbac = typed("envoy.extensions.filters.http.rbac.v3.RBAC", {
      rules: { policies: { p: { permissions: [match] } } },
    });
    expect(problemsOf(V3.extension, { name: "e", typed_config: rbac })).toEqual([
      expect.stringMatching(/^error NESTING_TOO_DEEP typed_config\.rules\.policies\.p\.permissions\.0\.\S+: /),
    ]);
  });

  it("in one Any after the other", () => {
    let config: object = typed(V3.router, {});
    for (let level = 0; level < 20_000; level++) config = typed(V3.extension, { name: "e", typed_config: config });
    expect(problemsOf(V3.extension, { name: "e", typed_config: config })).toEqual([
      expect.stringMatching(/^error NESTING_TOO_DEEP typed_config\.\S+: /),
    ]);
  });
});

describe("a value that is nested as deep as it may be", () => {
  it.each<[string, (inner: unknown) => unknown]>([
    ["in lists", (inner) => [inner]],
    ["in objects", (inner) => ({ a: inner })],
  ])("%s can be decoded again", (_, wrap) => {
    let value: unknown = 1;
    let deepest = 0;
    for (let depth = 1; depth < 60; depth++) {
      value = wrap(value);
      const { input } = api.readResource(typed(V3.runtime, { name: "r", layer: { a: value } }));
      if (input === undefined) break;
      expect(api.readEncodedResource(input.type, input.bytes).input).toEqual(input);
      deepest = depth;
    }
    expect(deepest).toBeGreaterThan(30);
    expect(deepest).toBeLessThan(59);
  });
});

describe("thousands of Anys, one in the other", () => {
  const varint = (value: number): number[] => (value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)]);
  const field = (number: number, bytes: Uint8Array): Uint8Array =>
    Buffer.concat([Buffer.from([(number << 3) | 2, ...varint(bytes.length)]), bytes]);
  const type = url(V3.extension);
  const name = field(1, Buffer.from("x"));
  let bytes = name;
  for (let level = 0; level < 5000; level++) {
    bytes = Buffer.concat([name, field(2, Buffer.concat([field(1, Buffer.from(type)), field(2, bytes)]))]);
  }

  it("are read, validated and printed as far as they can be", () => {
    expect(api.readEncodedResource(type, bytes).problems).toEqual([]);
    expect(api.validate(type, bytes)).toEqual([]);
    for (const options of [{}, { redact: true }]) {
      expect(JSON.stringify(api.toJson(type, bytes, options)).split("typedConfig").length).toBe(62);
      expect(api.toText(type, bytes, options)).toContain("typed_config");
    }
  });
});

describe("encoded resources", () => {
  it("tell of bytes that are no such message, and of no name", () => {
    const type = `type.googleapis.com/${V3.cluster}` as const;
    const garbage = api.readEncodedResource(type, Uint8Array.of(0x0a, 0x05, 0x41));
    const nameless = api.readEncodedResource(type, new Uint8Array());
    expect([garbage.problems.map(({ code }) => code), nameless.problems.map(({ code }) => code)]).toEqual([
      ["MESSAGE_MALFORMED"],
      ["RESOURCE_UNNAMED"],
    ]);
  });
});
