import type { EnvoyApi } from "@xdskit/envoy-api";
import { decodeNode, encodeNode } from "@xdskit/envoy-api/internal";
import { anonymousNode, formatTypeUrl, type Node } from "@xdskit/protocol";
import { isObject } from "@xdskit/protocol/internal";
import type { ConfigDefaults } from "./config-defaults.ts";
import { type MessageReading, readMessage } from "./message-reader.ts";
import { findMetadataProblems } from "./node-metadata.ts";
import { at, isPresent, type Place } from "./place.ts";
import type { Problems } from "./problems.ts";

/** The node fields of `ClientConfig`. */
export interface NodeConfig {
  readonly node: Node;
  readonly nodeBytes: Uint8Array | undefined;
}

/** Reads the node of a bootstrap and adds the client's user agent if the bootstrap sets none. */
export function readNode(
  messageName: string,
  place: Place,
  options: MessageReading & { readonly defaults: ConfigDefaults },
  problems: Problems,
): NodeConfig {
  const { api, defaults } = options;
  const read = isPresent(place) ? readMessage(messageName, place, options, problems) : undefined;
  if (read === undefined || !hasFittingMetadata(read.place, problems))
    return { node: named(anonymousNode, defaults), nodeBytes: undefined };
  const node = decodeNode(read.bytes);
  return {
    node: named(node, defaults),
    nodeBytes: isWhole(node, read.bytes, formatTypeUrl(messageName), api) ? undefined : read.bytes,
  };
}

/** Reports metadata that cannot be sent. */
function hasFittingMetadata(node: Place, problems: Problems): boolean {
  const { value = {}, path } = at(node, "metadata");
  const found = findMetadataProblems(value);
  for (const problem of found) problems.error([...path, ...problem.path], problem.message);
  return found.length === 0;
}

/** Whether a `Node` holds everything in the encoded bytes. */
function isWhole(node: Node, bytes: Uint8Array, type: ReturnType<typeof formatTypeUrl>, api: EnvoyApi): boolean {
  return JSON.stringify(api.toJson(type, encodeNode(node))) === JSON.stringify(api.toJson(type, bytes));
}

function named(node: Node, { userAgent }: ConfigDefaults): Node {
  if (userAgent === undefined || node.userAgentName !== "") return node;
  return { ...node, userAgentName: userAgent.name, userAgentVersion: userAgent.version };
}

/** The values of `node_context_params` fields, by parameter name (C-XTP-12). */
const readers: Readonly<Record<string, (node: Node) => string | undefined>> = {
  id: ({ id }) => id,
  cluster: ({ cluster }) => cluster,
  "locality.region": ({ locality }) => locality?.region,
  "locality.zone": ({ locality }) => locality?.zone,
  "locality.sub_zone": ({ locality }) => locality?.subZone,
  user_agent_name: ({ userAgentName }) => userAgentName,
  user_agent_version: ({ userAgentVersion }) => userAgentVersion,
  "user_agent_build_version.version": ({ userAgentVersion }) => userAgentVersion,
};

const PREFIX = "xds.node.";

/** The context parameters that a node adds to every xdstp name: its fields, and its metadata entry by entry as JSON. */
export function nodeContextParams(fields: readonly Place[], node: Node, problems: Problems): Map<string, string> {
  const params = new Map<string, string>();
  for (const { value, path } of fields) {
    const field = String(value);
    const reader = Object.hasOwn(readers, field) ? readers[field] : undefined;
    if (reader !== undefined) params.set(`${PREFIX}${field}`, reader(node) ?? "");
    else if (field === "metadata") addMetadata(node.metadata, params);
    else
      problems.error(
        path,
        `expected one of ${Object.keys(readers).join(", ")}, metadata, got ${JSON.stringify(field)}`,
      );
  }
  return params;
}

function addMetadata(metadata: unknown, params: Map<string, string>): void {
  if (!isObject(metadata)) return;
  for (const [key, value] of Object.entries(metadata)) {
    params.set(`${PREFIX}metadata.${key}`, JSON.stringify(value));
  }
}
