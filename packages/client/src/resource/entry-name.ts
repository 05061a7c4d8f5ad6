import { parseResourceName } from "@xdskit/protocol";

const ENTRY = "entry=";
/** What a directive may not hold as it is. */
const RESERVED = /[,#[\]%\s]/g;

/** The one entry that a name of a list collection asks for by a directive; undefined: it asks for all. */
export function entryIn(name: string): string | undefined {
  const hash = parseResourceName(name) === undefined ? -1 : name.indexOf("#");
  if (hash === -1) return undefined;
  const directives = name.slice(hash + 1).split(",");
  const entry = directives.find((directive) => directive.startsWith(ENTRY))?.slice(ENTRY.length);
  return entry && decoded(entry);
}

/** The name of an entry of a collection. One that is not called anything goes by the name of the collection. */
export function entryName(collection: string, entry: string): string {
  return entry === "" ? collection : `${collection}#${ENTRY}${entry.replaceAll(RESERVED, encodeURIComponent)}`;
}

/** What is encoded wrongly stands as it is: no entry has such a name. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
