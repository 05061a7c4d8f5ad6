import { createEnvoyApi } from "@xdskit/envoy-api";
import { encodeSotwResponse } from "@xdskit/envoy-api/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { KnownResources } from "./candidate-reader.ts";
import { decodeFile } from "./decode.ts";
import type { FileContent } from "./file-content.ts";
import type { FileFormat } from "./layout.ts";

const api = createEnvoyApi();

const yaml = `# two clusters and what is around them
resources:
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: a
  connect_timeout: 0.25s
  load_assignment: { cluster_name: a, endpoints: [] }
- "@type": type.googleapis.com/envoy.service.discovery.v3.Resource
  name: b
  ttl: 5s
  resource: &body
    "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
    name: b
    virtual_hosts: [{ name: v, domains: ["*"], routes: [{ match: { prefix: / }, route: { cluster: a } }] }]
`;
const text = `resources { [type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "a" connect_timeout { seconds: 1 } } }
resources: [{ [type.googleapis.com/envoy.config.cluster.v3.Cluster] { name: "b" type: EDS } }]
`;

async function decode(format: FileFormat, bytes: Uint8Array): Promise<FileContent> {
  return await decodeFile({ file: "f", format, bytes }, { api, validation: "warn" }, new KnownResources());
}

const utf8 = new TextEncoder();
const good: Readonly<Record<FileFormat, Uint8Array>> = {
  yaml: utf8.encode(yaml),
  json: utf8.encode(
    JSON.stringify(
      {
        resources: [
          { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "a", connectTimeout: "1s" },
        ],
      },
      null,
      1,
    ),
  ),
  text: utf8.encode(text),
  proto: encodeSotwResponse({
    versionInfo: "1",
    resources: [{ typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster", value: Uint8Array.of(10, 1, 97) }],
    typeUrl: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    nonce: "",
  }),
};

const anyEdit = fc.record({
  at: fc.nat(),
  remove: fc.integer({ min: 0, max: 40 }),
  insert: fc.uint8Array({ maxLength: 3 }),
});
const anyLine = fc.record({
  at: fc.nat(),
  remove: fc.integer({ min: 0, max: 6 }),
  insert: fc
    .constantFrom(..." :-{}[]\"'\n#&*|>!".split(""), "\n  ", "- ", "*body", "null", "7", "[]", "{}")
    .map((s) => utf8.encode(s)),
});

test.each<FileFormat>(["yaml", "json", "text", "proto"])(
  "whatever is done to a %s file, it is read or refused, and every problem has its place",
  async (format) => {
    expect((await decode(format, good[format])).resources.length).toBeGreaterThan(0);
    let refused = 0;
    const edits = fc.array(fc.oneof(anyEdit, anyLine), { minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(edits, async (changes) => {
      const bytes = changes.reduce((before, { at, remove, insert }) => {
        const from = at % (before.length + 1);
        return Uint8Array.from([...before.subarray(0, from), ...insert, ...before.subarray(from + remove)]);
      }, good[format]);
      const { problems } = await decode(format, bytes);
      if (problems.some(({ severity }) => severity === "error")) refused++;
      const hasLines = format !== "proto";
      const unplaced = problems.filter(({ code, line }) => hasLines && line === undefined && !code.startsWith("FILE_"));
      expect(unplaced).toEqual([]);
    });
    await fc.assert(property, { numRuns: 300 });
    expect(refused).toBeGreaterThan(50);
  },
);
