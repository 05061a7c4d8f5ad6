/** `HealthCheckRequestOrEndpointHealthResponse` of v2 and v3: what a client that checks health for others says. */
import type { Node } from "@xdskit/protocol";
import { decodeNode } from "./node.ts";
import { lengthTag, varintTag, WireReader } from "./reader.ts";
import { WireWriter } from "./writer.ts";

/** How a client can check: numbers of `Capability.Protocol`, by their names. */
export type HealthCheckProtocol = "HTTP" | "TCP" | "REDIS";

/** It offers to check, or it tells what it found: an encoded `EndpointHealthResponse`. */
export type HealthMessage =
  | { readonly kind: "request"; readonly node: Node | undefined; readonly protocols: readonly HealthCheckProtocol[] }
  | { readonly kind: "response"; readonly bytes: Uint8Array }
  | { readonly kind: "nothing" };

const protocolNames: readonly HealthCheckProtocol[] = ["HTTP", "TCP", "REDIS"];

/** Throws a `WireError` on bytes that are no such message. */
export function decodeHealthMessage(bytes: Uint8Array): HealthMessage {
  const reader = new WireReader(bytes);
  let message: HealthMessage = { kind: "nothing" };
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) message = readRequest(reader.message());
    else if (tag === lengthTag(2)) message = { kind: "response", bytes: reader.bytes() };
    else reader.skip(tag);
  }
  return message;
}

function readRequest(reader: WireReader): HealthMessage {
  let node: Node | undefined;
  let protocols: readonly HealthCheckProtocol[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) node = decodeNode(reader.bytes());
    else if (tag === lengthTag(2)) protocols = readCapability(reader.message());
    else reader.skip(tag);
  }
  return { kind: "request", node, protocols };
}

/** Numbers may be packed into one field, or stand alone. */
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

/** A client offers to check: its encoded node, and how it can. */
export function encodeHealthOffer(node: Uint8Array, protocols: readonly HealthCheckProtocol[]): Uint8Array {
  const writer = new WireWriter();
  writer.message(1, (request) => {
    request.bytes(1, node).message(2, (capability) => {
      // Three numbers, each in one byte.
      capability.bytes(
        1,
        Uint8Array.from(protocols, (protocol) => protocolNames.indexOf(protocol)),
      );
    });
  });
  return writer.finish();
}

/** A client tells what it found: an encoded `EndpointHealthResponse`. */
export function encodeHealthFindings(response: Uint8Array): Uint8Array {
  return new WireWriter(response.length + 8).bytes(2, response).finish();
}
