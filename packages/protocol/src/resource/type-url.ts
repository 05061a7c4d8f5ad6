/** The URL of a resource type, as in `Any.type_url` (requirements 1.3, B-TYP-01). */
export type TypeUrl = `type.googleapis.com/${string}`;

const PREFIX = "type.googleapis.com/";
const ENVOY = `${PREFIX}envoy.`;

/** Returns the type URL of a full message name, such as `envoy.config.cluster.v3.Cluster`. */
export function formatTypeUrl(messageName: string): TypeUrl {
  return `${PREFIX}${messageName}`;
}

/** Parses a type URL. Clients may omit the prefix, so the result always has it. Undefined for the empty string. */
export function parseTypeUrl(text: string): TypeUrl | undefined {
  if (text === "") return undefined;
  const slash = text.lastIndexOf("/");
  if (isTypeUrl(text, slash)) return text;
  return formatTypeUrl(slash === -1 ? text : text.slice(slash + 1));
}

/** `slash`: where the last one is. */
function isTypeUrl(text: string, slash: number): text is TypeUrl {
  return slash === PREFIX.length - 1 && text.startsWith(PREFIX);
}

/** Returns the full message name in a type URL. */
export function messageNameOf(type: TypeUrl): string {
  return type.slice(PREFIX.length);
}

/** Whether a type belongs to version 2 of the API, whose messages have fewer fields. */
export function isOfV2(type: TypeUrl): boolean {
  return type.startsWith(ENVOY) && type.includes(".v2.", ENVOY.length);
}
