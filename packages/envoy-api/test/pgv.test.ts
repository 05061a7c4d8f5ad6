import { beforeAll, describe, expect, it } from "vitest";
import { createEnvoyApi, type EnvoyApi, resolveJsonPath } from "../src/index.ts";
import { api, encode, lines, typed, url, V3 } from "./support/api.ts";
import { compileProtos } from "./support/compile-protos.ts";

// One field for each rule. What the rules of the descriptors say is checked, never what is written down in the code (B-VAL-04).
const RULES = `syntax = "proto3";
package pgv;
import "validate/validate.proto";
import "google/protobuf/any.proto";
import "google/protobuf/duration.proto";
import "google/protobuf/timestamp.proto";
import "google/protobuf/wrappers.proto";
enum Color { NONE = 0; RED = 1; BLUE = 2; }
message Inner { string name = 1 [(validate.rules).string.min_len = 1]; }
message Disabled { option (validate.disabled) = true; string name = 1 [(validate.rules).string.min_len = 1]; }
message Choice { oneof pick { option (validate.required) = true; string a = 1 [(validate.rules).string.min_len = 1]; string b = 2; } }
message Rules {
  string name = 100;
  uint32 u32 = 1 [(validate.rules).uint32 = {gte: 0, lte: 10}];
  int32 i32 = 2 [(validate.rules).int32 = {gt: -5, lt: 5}];
  uint64 u64 = 3 [(validate.rules).uint64 = {lte: 18446744073709551614}];
  double dbl = 4 [(validate.rules).double = {gte: 0, lte: 100}];
  int64 outside = 5 [(validate.rules).int64 = {lt: 5, gt: 10}];
  float flt = 6 [(validate.rules).float = {not_in: [7.5]}];
  bool flag = 7 [(validate.rules).bool.const = false];
  string max = 9 [(validate.rules).string = {max_len: 3}];
  string max_bytes = 10 [(validate.rules).string = {max_bytes: 3}];
  string pattern = 11 [(validate.rules).string = {pattern: "[a-z]+", ignore_empty: true}];
  string prefix = 12 [(validate.rules).string = {prefix: "a", suffix: "z", contains: "m", not_contains: "x", ignore_empty: true}];
  string in = 13 [(validate.rules).string = {in: ["", "a", "b"], not_in: ["b"]}];
  string header_name = 14 [(validate.rules).string = {well_known_regex: HTTP_HEADER_NAME, ignore_empty: true}];
  string header_loose = 15 [(validate.rules).string = {well_known_regex: HTTP_HEADER_NAME, strict: false}];
  string header_value = 16 [(validate.rules).string = {well_known_regex: HTTP_HEADER_VALUE}];
  string email = 17 [(validate.rules).string = {email: true, ignore_empty: true}];
  string host = 18 [(validate.rules).string = {hostname: true, ignore_empty: true}];
  string ip = 19 [(validate.rules).string = {ip: true, ignore_empty: true}];
  string ipv4 = 20 [(validate.rules).string = {ipv4: true, ignore_empty: true}];
  string ipv6 = 21 [(validate.rules).string = {ipv6: true, ignore_empty: true}];
  string uri = 22 [(validate.rules).string = {uri: true, ignore_empty: true}];
  string uri_ref = 23 [(validate.rules).string = {uri_ref: true, ignore_empty: true}];
  string address = 24 [(validate.rules).string = {address: true, ignore_empty: true}];
  string uuid = 25 [(validate.rules).string = {uuid: true, ignore_empty: true}];
  string len = 26 [(validate.rules).string = {len: 2, ignore_empty: true}];
  string len_bytes = 27 [(validate.rules).string = {len_bytes: 2, ignore_empty: true}];
  string const_text = 28 [(validate.rules).string = {const: "k", ignore_empty: true}];
  bytes raw = 29 [(validate.rules).bytes = {max_len: 2}];
  Color color = 30 [(validate.rules).enum = {defined_only: true, not_in: [2]}];
  repeated string list = 31 [(validate.rules).repeated = {max_items: 2, unique: true, items: {string: {min_len: 1}}}];
  map<string, uint32> map = 32 [(validate.rules).map = {max_pairs: 1, keys: {string: {min_len: 2}}, values: {uint32: {gt: 0}}}];
  google.protobuf.Duration time = 33 [(validate.rules).duration = {gt: {}, lte: {seconds: 1}}];
  google.protobuf.Timestamp when = 34 [(validate.rules).timestamp = {gte: {seconds: 60}}];
  google.protobuf.Any any = 35 [(validate.rules).any = {in: ["type.googleapis.com/pgv.Inner"]}];
  google.protobuf.UInt32Value wrapped = 36 [(validate.rules).uint32 = {gte: 5}];
  Inner inner = 37;
  Inner skipped = 38 [(validate.rules).message.skip = true];
  Disabled disabled = 39;
  Choice choice = 40;
  repeated Inner inners = 41;
  map<string, Inner> inner_by_name = 42;
  oneof one { uint32 chosen = 43 [(validate.rules).uint32.gt = 5]; google.protobuf.UInt32Value chosen_wrapped = 44 [(validate.rules).uint32.gt = 5]; }
  optional uint32 maybe = 45 [(validate.rules).uint32.gt = 5];
  repeated Color colors = 46 [(validate.rules).repeated.items.enum.defined_only = true];
}
message Needs {
  string name = 1;
  Inner inner = 2 [(validate.rules).message.required = true];
  google.protobuf.Duration time = 3 [(validate.rules).duration.required = true];
  google.protobuf.Any any = 4 [(validate.rules).any.required = true];
  repeated string list = 5 [(validate.rules).repeated.min_items = 1];
  map<string, string> map = 6 [(validate.rules).map.min_pairs = 1];
  string text = 7 [(validate.rules).string.min_len = 1];
  string text_bytes = 8 [(validate.rules).string.min_bytes = 2];
  bytes raw = 9 [(validate.rules).bytes.min_len = 1];
  uint32 positive = 10 [(validate.rules).uint32.gt = 0];
}
`;

describe("every rule that Envoy's files use, and the rest", () => {
  let rules: EnvoyApi;
  beforeAll(() => {
    rules = createEnvoyApi({ descriptors: [compileProtos({ "pgv/rules.proto": RULES })] });
  });

  const broken = (message: string, fields: object): readonly string[] => {
    const { input, problems } = rules.readResource(typed(message, { name: "n", ...fields }));
    if (input === undefined) throw new Error(lines(problems).join("\n"));
    return lines(rules.validate(url(message), input.bytes)).map((line) => line.replace(/^warning PGV_/, ""));
  };

  it.each<[object, readonly string[]]>([
    [{}, []],
    [{ u32: 11 }, ["LTE u32: expected at most 10, got 11"]],
    [{ i32: -5 }, ["GT i32: expected more than -5, got -5"]],
    [{ i32: 5 }, ["LT i32: expected less than 5, got 5"]],
    [{ u64: "18446744073709551615" }, ["LTE u64: expected at most 18446744073709551614, got 18446744073709551615"]],
    [{ dbl: -0.5 }, ["GTE dbl: expected at least 0, got -0.5"]],
    [{ dbl: "NaN" }, ["LTE dbl: expected at most 100, got NaN", "GTE dbl: expected at least 0, got NaN"]],
    [{ outside: "7" }, ["LT outside: expected less than 5 or more than 10, got 7"]],
    [{ outside: "11" }, []],
    [{ flt: 7.5 }, ["NOT_IN flt: expected none of 7.5, got 7.5"]],
    [{ flag: true }, ["CONST flag: expected false, got true"]],
    [{ max: "héll" }, ["MAX_LEN max: expected at most 3 characters, got 4 characters"]],
    [{ max: "🙂🙂🙂", max_bytes: "éé" }, ["MAX_BYTES max_bytes: expected at most 3 bytes, got 4 bytes"]],
    [{ pattern: "abc1" }, ['PATTERN pattern: expected text that matches [a-z]+, got "abc1"']],
    [
      { prefix: "bxy" },
      [
        'PREFIX prefix: expected text that begins with "a", got "bxy"',
        'SUFFIX prefix: expected text that ends with "z", got "bxy"',
        'CONTAINS prefix: expected text that contains "m", got "bxy"',
        'NOT_CONTAINS prefix: expected text without "x", got "bxy"',
      ],
    ],
    [{ prefix: "amz" }, []],
    [{ in: "c" }, ['IN in: expected one of "", "a", "b", got "c"']],
    [{ in: "b" }, ['NOT_IN in: expected none of "b", got "b"']],
    [{ header_name: "a b" }, ['WELL_KNOWN_REGEX header_name: expected the name of an HTTP header, got "a b"']],
    [{ header_name: ":path", header_loose: "a b" }, []],
    [{ header_loose: "a\nb" }, ['WELL_KNOWN_REGEX header_loose: expected the name of an HTTP header, got "a\\nb"']],
    [
      { header_value: "a\u0001" },
      ['WELL_KNOWN_REGEX header_value: expected the value of an HTTP header, got "a\\u0001"'],
    ],
    [
      {
        email: "a@b.c",
        host: "a.b-c",
        ip: "::1",
        ipv4: "1.2.3.4",
        ipv6: "::1",
        uri: "http://x/",
        uri_ref: "/x",
        address: "1.2.3.4",
        uuid: "123e4567-e89b-12d3-a456-426614174000",
      },
      [],
    ],
    [
      { email: "a", host: "-a", ip: "1.2.3", ipv4: "::1", ipv6: "1.2.3.4", uri: "x", address: "a_b", uuid: "1" },
      [
        'EMAIL email: expected an e-mail address, got "a"',
        'HOSTNAME host: expected a host name, got "-a"',
        'IP ip: expected an IP address, got "1.2.3"',
        'IPV4 ipv4: expected an IPv4 address, got "::1"',
        'IPV6 ipv6: expected an IPv6 address, got "1.2.3.4"',
        'URI uri: expected a URI, got "x"',
        'ADDRESS address: expected a host name or an IP address, got "a_b"',
        'UUID uuid: expected a UUID, got "1"',
      ],
    ],
    [{ len: "abc", len_bytes: "é" }, ["LEN len: expected 2 characters, got 3 characters"]],
    [{ const_text: "x" }, ['CONST const_text: expected "k", got "x"']],
    [{ raw: "AAAA" }, ["MAX_LEN raw: expected at most 2 bytes, got 3 bytes"]],
    [{ color: 9 }, ["DEFINED_ONLY color: expected a value that pgv.Color defines, got 9"]],
    [{ color: "BLUE" }, ["NOT_IN color: expected none of BLUE, got BLUE"]],
    [{ colors: ["RED", 7] }, ["DEFINED_ONLY colors.1: expected a value that pgv.Color defines, got 7"]],
    [
      { list: ["a", "a", ""] },
      [
        "MAX_ITEMS list: expected at most 2 items, got 3",
        'UNIQUE list: expected each item once, got "a" again',
        "MIN_LEN list.2: expected at least 1 character, got 0 characters",
      ],
    ],
    [
      { map: { a: 0, bb: 1 } },
      [
        "MAX_PAIRS map: expected at most 1 entry, got 2",
        "MIN_LEN map.a: expected at least 2 characters, got 1 character",
        "GT map.a: expected more than 0, got 0",
      ],
    ],
    [{ time: "0s" }, ["GT time: expected more than 0s, got 0s"]],
    [{ time: "1.000000001s" }, ["LTE time: expected at most 1s, got 1.000000001s"]],
    [{ when: "1970-01-01T00:00:59Z" }, ["GTE when: expected at least 60s, got 59s"]],
    [
      { any: typed("pgv.Choice", { b: "x" }) },
      ["IN any: expected one of type.googleapis.com/pgv.Inner, got type.googleapis.com/pgv.Choice"],
    ],
    [{ any: typed("pgv.Inner", {}) }, ["MIN_LEN any.name: expected at least 1 character, got 0 characters"]],
    [{ wrapped: 4 }, ["GTE wrapped: expected at least 5, got 4"]],
    [{ chosen: 0 }, ["GT chosen: expected more than 5, got 0"]],
    [{ chosen_wrapped: 1 }, ["GT chosen_wrapped: expected more than 5, got 1"]],
    [{ maybe: 0 }, ["GT maybe: expected more than 5, got 0"]],
    [{ inner: {}, skipped: {}, disabled: {} }, ["MIN_LEN inner.name: expected at least 1 character, got 0 characters"]],
    [{ choice: {} }, ["REQUIRED choice: expected one of a, b, got none"]],
    [{ choice: { a: "" } }, ["MIN_LEN choice.a: expected at least 1 character, got 0 characters"]],
    [
      { inners: [{ name: "x" }, {}], inner_by_name: { k: {} } },
      [
        "MIN_LEN inners.1.name: expected at least 1 character, got 0 characters",
        "MIN_LEN inner_by_name.k.name: expected at least 1 character, got 0 characters",
      ],
    ],
  ])("%j", (fields, expected) => {
    expect(broken("pgv.Rules", fields)).toEqual(expected);
  });

  it("of what must be there", () => {
    expect(broken("pgv.Needs", {})).toEqual([
      "REQUIRED inner: expected a value, got none",
      "REQUIRED time: expected a value, got none",
      "REQUIRED any: expected a value, got none",
      "MIN_ITEMS list: expected at least 1 item, got 0",
      "MIN_PAIRS map: expected at least 1 entry, got 0",
      "MIN_LEN text: expected at least 1 character, got 0 characters",
      "MIN_BYTES text_bytes: expected at least 2 bytes, got 0 bytes",
      "MIN_LEN raw: expected at least 1 byte, got 0 bytes",
      "GT positive: expected more than 0, got 0",
    ]);
  });
});

describe("the rules of Envoy's own files", () => {
  it("hold through lists and Anys, with paths that lead back into the value that was read", () => {
    const value = typed(V3.listener, {
      name: "l",
      filterChains: [
        { filters: [{ name: "hcm", typedConfig: typed(V3.http, { routeConfig: { virtualHosts: [{ name: "v" }] } }) }] },
      ],
    });
    const problems = api.validate(url(V3.listener), encode(value));
    expect(lines(problems)).toEqual([
      "warning PGV_MIN_LEN filter_chains.0.filters.0.typed_config.stat_prefix: expected at least 1 character, got 0 characters",
      "warning PGV_MIN_ITEMS filter_chains.0.filters.0.typed_config.route_config.virtual_hosts.0.domains: expected at least 1 item, got 0",
    ]);
    expect(problems.map(({ path }) => resolveJsonPath(value, path).join("."))).toEqual([
      "filterChains.0.filters.0.typedConfig.statPrefix",
      "filterChains.0.filters.0.typedConfig.routeConfig.virtualHosts.0.domains",
    ]);
  });

  it("are found right after a resource was read, whatever was read before it, and whenever else", () => {
    const bytes = encode(typed(V3.route, { name: "r", virtual_hosts: [{}] }));
    const found = api.validate(url(V3.route), bytes);
    expect(found).not.toEqual([]);
    const { input } = api.readEncodedResource(url(V3.route), bytes);
    const other = api.readEncodedResource(url(V3.route), encode(typed(V3.route, { name: "s" })));
    expect(api.validate(url(V3.route), other.input?.bytes ?? bytes)).toEqual([]);
    expect(api.validate(url(V3.route), input?.bytes ?? bytes)).toEqual(found);
    const again = api.readEncodedResource(url(V3.route), bytes);
    for (let i = 0; i < 2; i++) expect(api.validate(url(V3.route), again.input?.bytes ?? bytes)).toEqual(found);
  });

  it("are advice only: no resource is refused for them (S-VAL-03)", () => {
    const { input, problems } = api.readResource(typed(V3.route, { name: "r", virtual_hosts: [{}] }));
    expect([input?.name, problems]).toEqual(["r", []]);
  });

  it("say nothing of a type that is not known, and of bytes that are no message that they are none", () => {
    expect(api.validate(url("acme.W"), Uint8Array.of(1))).toEqual([]);
    expect(api.validate(url(V3.cluster), Uint8Array.of(1)).map(({ code }) => code)).toEqual(["MESSAGE_MALFORMED"]);
  });
});
