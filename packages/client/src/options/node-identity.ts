import { encodeNode } from "@xdskit/envoy-api/internal";
import { anonymousNode, type Node } from "@xdskit/protocol";
import {
  aListOfTexts,
  anObject,
  aText,
  at,
  fields,
  isObject,
  type Rule,
  type RulesOf,
} from "@xdskit/protocol/internal";
import { texts } from "../argument.ts";
import type { ClientConfig } from "../config/client-config.ts";
import { aStruct } from "../config/node-metadata.ts";
import type { NodeEncoder } from "../transport/encode-request.ts";
import { VERSION } from "./version.ts";

/** Parameters by type URL. */
const textsByType: Rule = (value) =>
  isObject(value) ? Object.entries(value).flatMap(([type, inner]) => at(type, texts(inner))) : anObject(value);

/** The fields of a node. */
export const nodeRules: RulesOf<Node> = {
  id: aText,
  cluster: aText,
  locality: fields({ region: aText, zone: aText, subZone: aText }, { noun: "field" }),
  metadata: aStruct,
  userAgentName: aText,
  userAgentVersion: aText,
  clientFeatures: aListOfTexts,
  dynamicParameters: textsByType,
};

/** The node with some fields changed. An undefined field stays, except for `locality`, which a node may lack. */
export function withFields(node: Node, changes: Partial<Node>): Node {
  const given = Object.entries(changes).filter(([field, value]) => value !== undefined || field === "locality");
  return { ...node, ...Object.fromEntries(given) };
}

/** Features of every client of this library: wrapped resources in SotW, and TTLs (C-TTL-03). */
const RESOURCE_IN_SOTW = "xds.config.resource-in-sotw";
const RESOURCE_TTL = "xds.config.supports-resource-ttl";

/** The node as sent: with this library's user agent and client features (C-NOD-08). */
export function identify(node: Node, { hasTtl }: { readonly hasTtl: boolean }): Node {
  const features = [...node.clientFeatures, RESOURCE_IN_SOTW, ...(hasTtl ? [RESOURCE_TTL] : [])];
  return {
    ...node,
    userAgentName: node.userAgentName === "" ? "xdskit" : node.userAgentName,
    userAgentVersion: node.userAgentName === "" ? VERSION : node.userAgentVersion,
    clientFeatures: [...new Set(features)],
  };
}

/**
 * Encodes the node of requests. Fields of the bootstrap's node that `Node` cannot hold are sent too: protobuf merges
 * concatenated messages.
 */
export function nodeEncoder({ node, nodeBytes }: Pick<ClientConfig, "node" | "nodeBytes">, sent: Node): NodeEncoder {
  const added = encodeNode({
    ...anonymousNode,
    userAgentName: sent.userAgentName,
    userAgentVersion: sent.userAgentVersion,
    clientFeatures: sent.clientFeatures.filter((feature) => !node.clientFeatures.includes(feature)),
  });
  const first = nodeBytes === undefined ? encodeNode(sent) : Buffer.concat([nodeBytes, added]);
  let last = { node: sent, bytes: first };
  return (wanted) => {
    if (wanted !== last.node) last = { node: wanted, bytes: encodeNode(wanted) };
    return last.bytes;
  };
}
