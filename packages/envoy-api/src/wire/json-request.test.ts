import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";
import { finish } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { decodeJsonRequest } from "./json-request.ts";
import { WireError } from "./wire-error.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const nothing = {
  kind: "sotw",
  type: undefined,
  node: undefined,
  nonce: undefined,
  error: undefined,
  versionInfo: undefined,
  names: [],
};

function decode(value: unknown): unknown {
  return finish(decodeJsonRequest(Buffer.from(typeof value === "string" ? value : JSON.stringify(value))));
}

/** What is wrong with a text. */
function faultOf(text: string | Uint8Array): string {
  try {
    finish(decodeJsonRequest(typeof text === "string" ? Buffer.from(text) : text));
    return "nothing";
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return error.message;
  }
}

test("B-RST-02 both spellings, null and unknown fields are read alike", () => {
  const expected = {
    ...nothing,
    type: CLUSTER,
    node: {
      ...anonymousNode,
      id: "edge-7",
      cluster: "edge",
      userAgentName: "envoy",
      userAgentVersion: "1.39.0",
      locality: { region: "r", zone: "z", subZone: "s" },
      metadata: { a: [1, "x", true, null, { b: 0.5 }] },
      clientFeatures: ["f"],
    },
    nonce: "n",
    versionInfo: "v",
    names: ["a", "b", "c"],
    error: { code: 13, message: "no" },
  };
  const metadata = { a: [1, "x", true, null, { b: 0.5 }] };
  const camel = {
    versionInfo: "v",
    node: {
      id: "edge-7",
      cluster: "edge",
      metadata,
      locality: { region: "r", zone: "z", subZone: "s" },
      userAgentName: "envoy",
      userAgentBuildVersion: { version: { majorNumber: 1, minorNumber: 39, patch: 0 }, metadata: null },
      clientFeatures: ["f"],
      extensions: null,
    },
    resourceNames: ["a", "b"],
    resourceLocators: [{ name: "c", dynamicParameters: { x: "y" } }],
    typeUrl: CLUSTER,
    responseNonce: "n",
    errorDetail: { code: 13, message: "no", details: [{ "@type": "type.googleapis.com/a.B" }] },
    somethingNew: { deep: [1, 2, { three: "}" }] },
  };
  const snake = {
    version_info: "v",
    node: {
      id: "edge-7",
      cluster: "edge",
      metadata,
      locality: { region: "r", zone: "z", sub_zone: "s" },
      user_agent_name: "envoy",
      user_agent_build_version: { version: { major_number: 1, minor_number: "39" } },
      client_features: ["f"],
    },
    resource_names: ["a", "b"],
    resource_locators: [{ name: "c" }],
    type_url: "envoy.config.cluster.v3.Cluster",
    response_nonce: "n",
    error_detail: { code: "13", message: "no" },
  };
  expect([decode(camel), decode(snake), decode(JSON.stringify(camel, undefined, 3))]).toEqual([
    expected,
    expected,
    expected,
  ]);
  const nulls = { versionInfo: null, node: null, resourceNames: null, typeUrl: null, errorDetail: null };
  expect([decode(nulls), decode("{}"), decode(' {\n"a" : -1.5e3 , "b":[ ] }\t')]).toEqual([nothing, nothing, nothing]);
});

test("T-I1 a poll as an Envoy sends it is read, and its extensions are not", () => {
  const extensions = Array.from({ length: 500 }, (_, i) => ({ name: `x.y.${i}`, type_urls: ["a.B", 'c"\\D'] }));
  const node = { id: "n", cluster: "c", user_agent_name: "envoy", extensions };
  expect(decode({ node, type_url: CLUSTER })).toEqual({
    ...nothing,
    type: CLUSTER,
    node: { ...anonymousNode, id: "n", cluster: "c", userAgentName: "envoy" },
  });
});

test("escapes and other alphabets are read as what they stand for", () => {
  expect(decode('{"node":{"id":"\\u00e9\\n\\"€😀","\\u0063luster":"c"}}')).toEqual({
    ...nothing,
    node: { ...anonymousNode, id: 'é\n"€😀', cluster: "c" },
  });
});

test("names of prototypes are names like any other", () => {
  const { node } = finish(
    decodeJsonRequest(
      Buffer.from('{"__proto__":{"versionInfo":"x"},"node":{"metadata":{"__proto__":{"a":1},"constructor":2}}}'),
    ),
  );
  expect(Object.entries(node?.metadata ?? {})).toEqual([
    ["__proto__", { a: 1 }],
    ["constructor", 2],
  ]);
  expect(decode('{"toString":1,"hasOwnProperty":{}}')).toEqual(nothing);
});

describe("what is no request is refused with the place", () => {
  test.each([
    ["", "line 1, column 1: expected a value, got the end of the text"],
    ["[]", "line 1, column 1: expected a DiscoveryRequest, which is an object, got a list"],
    ['{"a":1,}', 'line 1, column 8: expected a key in quotes, got "}"'],
    ["{\n  'a': 1}", 'line 2, column 3: expected a key in quotes, got "\'"'],
    ['{"a" 1}', 'line 1, column 6: expected a colon, got "1"'],
    ['{"a":1 "b":2}', 'line 1, column 8: expected a comma or the end of the object, got "\\""'],
    ['{"a":[1 2]}', 'line 1, column 9: expected a comma or the end of the list, got "2"'],
    ['{"a":01}', 'line 1, column 6: expected a number, got "01"'],
    ['{"a":1.}', 'line 1, column 6: expected a number, got "1."'],
    ['{"a":truthy}', 'line 1, column 6: expected a value, got "truthy"'],
    ['{"a":NaN}', 'line 1, column 6: expected a value, got "N"'],
    ['{"a":"\\x"}', 'line 1, column 6: expected a string, got "\\""'],
    ['{"a":"', "line 1, column 7: expected the end of a string, got the end of the text"],
    ['{"a":"\t"}', "line 1, column 7: expected control characters in a string to be escaped"],
    ["{} x", 'line 1, column 4: expected the end, got "x"'],
    ['{"node":5}', 'line 1, column 9: expected an object in "node", got a number'],
    ['{"node":{"id":7}}', 'line 1, column 15: expected a string in "node.id", got a number'],
    ['{"resource_names":"a"}', 'line 1, column 19: expected a list in "resource_names", got a string'],
    ['{"resourceNames":["a",1]}', 'line 1, column 23: expected a string in "resourceNames[]", got a number'],
    ['{"errorDetail":{"code":1.5}}', 'line 1, column 27: expected a whole number in "errorDetail.code"'],
    ['{"typeUrl":"a","type_url":"b"}', 'line 1, column 27: expected the field "type_url" once, got it twice'],
    [`{"a":${"[".repeat(101)}`, "line 1, column 106: expected at most 100 levels"],
    [`{"node":{"metadata":${'{"a":'.repeat(101)}`, "line 1, column 512: expected at most 100 levels"],
  ])("%s", (text, fault) => {
    expect(faultOf(text)).toBe(fault);
  });

  test("bytes that are no UTF-8", () => {
    expect(faultOf(Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]))).toMatch(/expected JSON in UTF-8/);
  });

  test("a million names, and metadata of megabytes", () => {
    const names = `{"resourceNames":[${"0".repeat(1_000_001).replaceAll("0", '"",').slice(0, -1)}]}`;
    expect(faultOf(names)).toMatch(/expected at most 1000000 in "resourceNames"/);
    const metadata = `{"node":{"metadata":{"a":"${"x".repeat(300_000)}"}}}`;
    expect(() => finish(decodeJsonRequest(Buffer.from(metadata), 262_144))).toThrow(
      "a node of at least 300008 bytes beside its extensions, at most 262144 are taken",
    );
  });

  test("a type URL that is longer than any type's", () => {
    expect(faultOf(JSON.stringify({ typeUrl: "t".repeat(1_025) }))).toMatch(/1025 characters, at most 1024/);
  });

  test("metadata of many values, without reading all of it", () => {
    const metadata = `{"node":{"id":"a","metadata":{"a":[${"{},".repeat(100_000)}{}]}}}`;
    expect(() => finish(decodeJsonRequest(Buffer.from(metadata), 1_000))).toThrow(
      "a node of at least 1002 bytes beside its extensions, at most 1000 are taken",
    );
    // What is beside the node is not part of it.
    expect(decode({ node: { id: "a", metadata: { a: {} } }, unknown: [{}, {}] })).toMatchObject({ node: { id: "a" } });
  });
});

test("the text of an error is made printable", () => {
  expect(decode({ errorDetail: { code: 3, message: "a\u001b[31mb" } })).toMatchObject({
    error: { code: 3, message: "a\ufffd[31mb" },
  });
});

test("a large body is read in steps", () => {
  const list = (count: number): string => `[${'{"a":[]},'.repeat(count)}1]`;
  const text = (count: number): string =>
    `{"unknown":${list(count)},"node":{"extensions":${list(count)}},"typeUrl":"a/b"}`;
  const names = (count: number): string => `{"resourceNames":[${'"a",'.repeat(count)}"b"]}`;
  const stepsOf = (body: string): number => {
    const steps = decodeJsonRequest(Buffer.from(body));
    let count = 0;
    while (steps.next().done !== true) count++;
    return count;
  };
  expect([text(10), names(10)].map(stepsOf)).toEqual([0, 1]);
  expect([text(3_200), names(6_400)].map(stepsOf)).toEqual([200, 101]);
});
