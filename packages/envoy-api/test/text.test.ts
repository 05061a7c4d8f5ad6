import { describe, expect, it } from "vitest";
import { api, encode, typed, url, V3 } from "./support/api.ts";

const CLUSTER = `# a cluster
name: "c"  type: EDS
connect_timeout { seconds: 1 nanos: 500000000 }
eds_cluster_config { eds_config { ads {} } }
typed_extension_protocol_options {
  key: "k"
  value {
    [type.googleapis.com/envoy.extensions.filters.http.router.v3.Router] { suppress_envoy_headers: true }
  }
}
metadata { filter_metadata { key: "m" value { fields { key: "a" value { number_value: 1 } } } } }
circuit_breakers { thresholds { max_connections { value: 5 } } }
`;

describe("the text format", () => {
  it("becomes the value that JSON would have been", () => {
    const { value, problems } = api.readText(V3.cluster, CLUSTER);
    expect({ value, problems }).toEqual({
      value: typed(V3.cluster, {
        name: "c",
        type: "EDS",
        connect_timeout: "1.500s",
        eds_cluster_config: { eds_config: { ads: {} } },
        typed_extension_protocol_options: { k: typed(V3.router, { suppress_envoy_headers: true }) },
        metadata: { filter_metadata: { m: { a: 1 } } },
        circuit_breakers: { thresholds: [{ max_connections: 5 }] },
      }),
      problems: [],
    });
  });

  it("comes back from what was encoded", () => {
    const bytes = encode(api.readText(V3.cluster, CLUSTER).value);
    const again = api.readText(V3.cluster, api.toText(url(V3.cluster), bytes));
    expect(encode(again.value)).toEqual(bytes);
  });

  it("keeps an Any of an unknown type as bytes", () => {
    const { value } = api.readText(
      V3.extension,
      'name: "x" typed_config { type_url: "type.googleapis.com/acme.W" value: "\\001\\002" }',
    );
    expect(value).toEqual(typed(V3.extension, { name: "x", typed_config: { "@type": url("acme.W"), value: "AQI=" } }));
  });

  it.each<[string, string, number, number]>([
    ["an unknown field", 'name: "c"\n  nope: 1', 2, 3],
    ["an unknown field after a long comment", `# ${"x\n#".repeat(500)}\nname: "c" nope: 1`, 502, 11],
    ["an unknown value", 'name: "c"\ntype: EDSS\n', 2, 7],
    ["a wrong type", 'name: "c"\n\nconnect_timeout: "1s"', 3, 18],
    ["a message that does not end", 'name: "c"\nconnect_timeout {\n', 2, 17],
    ["a string that does not end", 'name: "c', 1, 7],
    ["a field given twice", 'name: "a"\nname: "b"', 2, 1],
    [
      "a type that nobody knows",
      'typed_extension_protocol_options { key: "k" value { [type.googleapis.com/a.B] {} } }',
      1,
      77,
    ],
  ])("%s has a line and a column", (_, text, line, column) => {
    const { problems, value } = api.readText(V3.cluster, text);
    expect(problems.map((problem) => [problem.code, problem.line, problem.column])).toEqual([
      ["TEXT_INVALID", line, column],
    ]);
    expect(value).toBeUndefined();
  });

  it("needs a message that is known, to read and to print", () => {
    expect(api.readText("acme.W", "").problems).toEqual([
      {
        code: "TEXT_INVALID",
        severity: "error",
        line: undefined,
        column: undefined,
        message: 'expected a message that is known, got "acme.W"',
      },
    ]);
    expect(() => api.toText(url("acme.W"), new Uint8Array())).toThrow("expected a type that is known");
    expect(() => api.toText(url(V3.cluster), Uint8Array.of(1))).toThrow(
      "expected the bytes of a envoy.config.cluster.v3.Cluster",
    );
    expect(() => api.toJson(url(V3.cluster), Uint8Array.of(1))).toThrow(
      "expected the bytes of a envoy.config.cluster.v3.Cluster",
    );
  });
});
