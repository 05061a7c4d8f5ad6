/** The URL that names a resource type, as it stands in `Any.type_url` (requirements 1.3, B-TYP-01). */
export type TypeUrl = `type.googleapis.com/${string}`;

const PREFIX = "type.googleapis.com/";

/** The URL of a message by its full name, such as `envoy.config.cluster.v3.Cluster`. */
export function formatTypeUrl(messageName: string): TypeUrl {
  return `${PREFIX}${messageName}`;
}

/**
 * Reads a type URL. A client may leave the prefix off, so it is added where there is none; what is printed always has it.
 * Undefined for the empty string.
 */
export function parseTypeUrl(text: string): TypeUrl | undefined {
  if (text === "") return undefined;
  const slash = text.lastIndexOf("/");
  return formatTypeUrl(slash === -1 ? text : text.slice(slash + 1));
}

/** The full message name in a type URL. */
export function messageNameOf(type: TypeUrl): string {
  return type.slice(PREFIX.length);
}

/** Whether a type is one of version 2 of the API, which has fewer fields in its messages. */
export function isOfV2(type: TypeUrl): boolean {
  return /^envoy\..*\.v2\./.test(messageNameOf(type));
}
