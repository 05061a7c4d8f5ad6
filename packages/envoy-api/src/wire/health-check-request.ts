/**
 * `HealthCheckRequestOrEndpointHealthResponse` of v2 and v3: the messages of a client that checks health for others.
 */
import type { Node } from "@xdskit/protocol";
import { MAX_NODE_BYTES, NodeMemory } from "./node.ts";
import { lengthTag, varintTag, WireReader } from "./reader.ts";
import { WireWriter } from "./writer.ts";

/** A health check protocol; the names of `Capability.Protocol`. */
export type HealthCheckProtocol = "HTTP" | "TCP" | "REDIS";

/** A client's offer to check health, or its results as an encoded `EndpointHealthResponse`. */
export type HealthMessage =
  | { readonly kind: "request"; readonly node: Node | undefined; readonly protocols: readonly HealthCheckProtocol[] }
  | { readonly kind: "response"; readonly bytes: Uint8Array }
  | { readonly kind: "nothing" };

const protocolNames: readonly HealthCheckProtocol[] = ["HTTP", "TCP", "REDIS"];

/**
 * Decodes a message.
 *
 * @throws {WireError} if the bytes are not such a message; a `NodeSizeError` for a node of more than `maxNodeBytes`
 */
export function decodeHealthMessage(bytes: Uint8Array, maxNodeBytes: number = MAX_NODE_BYTES): HealthMessage {
  const reader = new WireReader(bytes);
  let message: HealthMessage = { kind: "nothing" };
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) message = readRequest(reader.message(), maxNodeBytes);
    else if (tag === lengthTag(2)) message = { kind: "response", bytes: reader.bytes() };
    else reader.skip(tag);
  }
  return message;
}

function readRequest(reader: WireReader, maxNodeBytes: number): HealthMessage {
  let node: Node | undefined;
  let protocols: readonly HealthCheckProtocol[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) node = new NodeMemory(maxNodeBytes).read(reader.bytes());
    else if (tag === lengthTag(2)) protocols = readCapability(reader.message());
    else reader.skip(tag);
  }
  return { kind: "request", node, protocols };
}

/** The enum field may be packed or not. */
function readCapability(reader: WireReader): readonly HealthCheckProtocol[] {
  const protocols: HealthCheckProtocol[] = [];
  const add = (number: number): void => {
    const name = protocolNames[number];
    if (name !== undefined && !protocols.includes(name)) protocols.push(name);
  };
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === varintTag(1)) add(reader.uint32());
    else if (tag === lengthTag(1)) {
      const packed = reader.message();
      while (packed.hasMore) add(packed.uint32());
    } else reader.skip(tag);
  }
  return protocols;
}

/** Encodes a client's offer to check: its encoded node and its protocols. */
export function encodeHealthOffer(node: Uint8Array, protocols: readonly HealthCheckProtocol[]): Uint8Array {
  const writer = new WireWriter();
  writer.message(1, (request) => {
    request.bytes(1, node).message(2, (capability) => {
      // Packed; each number takes one byte.
      capability.bytes(
        1,
        Uint8Array.from(protocols, (protocol) => protocolNames.indexOf(protocol)),
      );
    });
  });
  return writer.finish();
}

/** Encodes a client's results: an encoded `EndpointHealthResponse`. */
export function encodeHealthFindings(response: Uint8Array): Uint8Array {
  return new WireWriter(response.length + 8).bytes(2, response).finish();
}
