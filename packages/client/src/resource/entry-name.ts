import { parseResourceName } from "@xdskit/protocol";

const ENTRY = "entry=";
/** Characters that must be percent-encoded in a directive. */
const RESERVED = /[,#[\]%\s]/g;

/** The entry of a list collection that a name selects by its directive; undefined: all entries. */
export function entryIn(name: string): string | undefined {
  const hash = parseResourceName(name) === undefined ? -1 : name.indexOf("#");
  if (hash === -1) return undefined;
  const directives = name.slice(hash + 1).split(",");
  const entry = directives.find((directive) => directive.startsWith(ENTRY))?.slice(ENTRY.length);
  return entry && decoded(entry);
}

/** The name of an entry of a list collection; an unnamed entry has the name of the collection. */
export function entryName(collection: string, entry: string): string {
  return entry === "" ? collection : `${collection}#${ENTRY}${entry.replaceAll(RESERVED, encodeURIComponent)}`;
}

/** Malformed percent-encoding stays as it is; no entry has such a name. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
