import type { Node } from "@xdskit/protocol";
import { bytesOfNode, bytesOfValue } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { encodeWithProtobufEs } from "../../test/support/discovery-protos.ts";
import { decodeNode, encodeNode, NodeMemory } from "./node.ts";
import { WireError } from "./wire-error.ts";
import { WireWriter } from "./writer.ts";

const edge: Node = {
  id: "edge-7",
  cluster: "edge",
  metadata: { labels: { app: "web" }, ports: [80, 443] },
  locality: { region: "eu", zone: "a", subZone: "" },
  userAgentName: "gRPC Go",
  userAgentVersion: "1.85.0",
  clientFeatures: ["xds.config.resource-in-sotw"],
};

/** What Envoy sends: its build version as numbers, and a list of everything that was compiled into it. */
const envoyJson = {
  id: "edge-7",
  cluster: "edge",
  metadata: { labels: { app: "web" } },
  user_agent_name: "envoy",
  user_agent_build_version: {
    version: { major_number: 1, minor_number: 39, patch: 2 },
    metadata: { "revision.status": "Clean" },
  },
  extensions: Array.from({ length: 493 }, (_, i) => ({
    name: `envoy.filters.http.number_${i}`,
    category: "envoy.filters.http",
    type_urls: [`envoy.extensions.filters.http.number_${i}.v3.Filter`],
  })),
  client_features: ["a"],
  listening_addresses: [{ socket_address: { address: "127.0.0.1", port_value: 80 } }],
};
const asEnvoyNode = (changes: object): Uint8Array =>
  encodeWithProtobufEs("envoy.config.core.v3.Node", { ...envoyJson, ...changes });

describe("a node", () => {
  test("comes back as it was encoded", () => {
    expect(decodeNode(encodeNode(edge))).toEqual(edge);
  });

  test("says nothing about itself if it has no bytes", () => {
    expect(decodeNode(new Uint8Array())).toEqual({
      id: "",
      cluster: "",
      metadata: {},
      locality: undefined,
      userAgentName: "",
      userAgentVersion: "",
      clientFeatures: [],
    });
  });

  test("of Envoy has the numbers of its build as its version", () => {
    expect(decodeNode(asEnvoyNode({}))).toEqual({
      id: "edge-7",
      cluster: "edge",
      metadata: { labels: { app: "web" } },
      locality: undefined,
      userAgentName: "envoy",
      userAgentVersion: "1.39.2",
      clientFeatures: ["a"],
    });
  });

  test("with a build version that has no numbers has no version", () => {
    expect(decodeNode(asEnvoyNode({ user_agent_build_version: {} })).userAgentVersion).toBe("");
  });

  test("of v2 has a build version that is passed over", () => {
    const bytes = new WireWriter().string(1, "a").string(5, "abc/1.13.0/Clean/RELEASE/BoringSSL").finish();
    expect(decodeNode(bytes)).toMatchObject({ id: "a", userAgentName: "", userAgentVersion: "" });
  });

  test("larger than 4 MiB is refused", () => {
    expect(() => decodeNode(new WireWriter().string(1, "x".repeat(4 * 1024 * 1024)).finish())).toThrow(WireError);
  });
});

describe("the node of a stream", () => {
  test("is the same object while its bytes are the same", () => {
    const memory = new NodeMemory();
    const first = memory.read(asEnvoyNode({}));
    expect(memory.read(asEnvoyNode({}))).toBe(first);
    expect(memory.read(asEnvoyNode({}))).toBe(first);
  });

  test("is remembered without keeping the bytes it came in", () => {
    const memory = new NodeMemory();
    const bytes = asEnvoyNode({});
    const first = memory.read(bytes);
    bytes.fill(0);
    expect(memory.read(asEnvoyNode({}))).toBe(first);
    expect(first).toEqual(decodeNode(asEnvoyNode({})));
  });

  test("is refused for malformed metadata, though that is decoded later", () => {
    const notAStruct = Uint8Array.of(0x1a, 0x04, 0x0a, 0x02, 0x12, 0x05);
    expect(() => new NodeMemory().read(notAStruct)).toThrow(WireError);
  });

  test("counts the bytes that its metadata is kept in", () => {
    const [short, long] = ["x", "x".repeat(10_001)].map((app) =>
      new NodeMemory().read(encodeNode({ ...edge, metadata: { app } })),
    );
    expect(bytesOfNode(long ?? edge) - bytesOfNode(short ?? edge)).toBeGreaterThanOrEqual(10_000);
    expect(bytesOfNode(new NodeMemory().read(encodeNode({ ...edge, metadata: {} })))).toBe(
      bytesOfValue({ ...edge, metadata: {} }),
    );
  });

  test("is another object when anything changes that is read", () => {
    for (const change of [
      { id: "edge-8" },
      { cluster: "edgy" },
      { metadata: { labels: { app: "wed" } } },
      { locality: { zone: "b" } },
      { user_agent_name: "enviy" },
      { client_features: ["b"] },
      { client_features: [] },
      { client_features: ["a", "b"] },
    ]) {
      const memory = new NodeMemory();
      const first = memory.read(asEnvoyNode({}));
      const second = memory.read(asEnvoyNode(change));
      expect([second === first, second]).toEqual([false, decodeNode(asEnvoyNode(change))]);
    }
  });

  test("is the same when nothing changes but what nobody reads", () => {
    const memory = new NodeMemory();
    const first = memory.read(asEnvoyNode({}));
    expect(memory.read(asEnvoyNode({ extensions: [], listening_addresses: [] }))).toBe(first);
  });

  test("stays as it was when malformed bytes come", () => {
    const memory = new NodeMemory();
    const first = memory.read(encodeNode(edge));
    expect(() => memory.read(Uint8Array.of(0x0a, 0x05, 0x61))).toThrow(WireError);
    expect(memory.read(encodeNode(edge))).toBe(first);
  });

  test("may have no bytes at all", () => {
    const memory = new NodeMemory();
    const nobody = memory.read(new Uint8Array());
    expect(memory.read(new Uint8Array())).toBe(nobody);
    expect(memory.read(encodeNode(edge))).toEqual(edge);
    expect(memory.read(new Uint8Array())).toEqual(nobody);
  });
});
