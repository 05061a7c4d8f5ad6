import type { CollectionEntry, EnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl, messageNameOf, type TypeUrl } from "@xdskit/protocol";
import type { HeldResource } from "@xdskit/protocol/internal";
import { entryName } from "./entry-name.ts";
import { namesLocatedBy } from "./located.ts";

/** A member of a list collection (B-XTP-07). */
export type Member =
  /** Inline in the collection; its name is the collection's with its own: `xdstp://…/foo#entry=bar`. */
  | { readonly kind: "inline"; readonly name: string; readonly resource: HeldResource }
  /** Located elsewhere, under these names, best first; empty if the locator cannot be followed. */
  | { readonly kind: "located"; readonly names: readonly string[] };

/** The members of a list collection, and its problems. */
export interface Members {
  readonly members: readonly Member[];
  readonly problems: readonly string[];
}

/** The functions that read the entries of a list collection. */
export type EntryReader = Pick<EnvoyApi, "collectionEntries" | "readEncodedResource" | "toJson">;

/** A received collection. */
export type Listed = Pick<HeldResource, "type" | "bytes" | "isRestored">;

const SUFFIX = "Collection";

/** Reads the members of a list collection. A type that is no list collection, or is unknown, is a problem. */
export function membersOf(listed: Listed, name: string, api: EntryReader): Members {
  const entries = api.collectionEntries(listed.type, listed.bytes);
  if (entries === undefined)
    return { members: [], problems: [`expected a list collection, got ${messageNameOf(listed.type)}`] };
  const members = new Map<string, Member>();
  const problems: string[] = [];
  for (const [index, entry] of entries.entries()) {
    const read = memberOf(entry, listed, name, api);
    if (typeof read === "string") {
      problems.push(`entries[${index}]: ${read}`);
      continue;
    }
    const key = memberKey(read);
    if (read.kind === "inline" && members.has(key))
      problems.push(`entries[${index}]: expected a name of its own, got that of another entry`);
    else members.set(key, read);
  }
  return { members: [...members.values()], problems };
}

/** Identifies a member within its collection. */
export function memberKey(member: Member): string {
  return member.kind === "inline" ? member.name : member.names.join("\n");
}

/** Reads an entry; a string says why it is invalid. */
function memberOf(entry: CollectionEntry, listed: Listed, collection: string, api: EntryReader): Member | string {
  if (entry.kind === "locator")
    return { kind: "located", names: namesLocatedBy({ bodyType: entry.type, bytes: entry.bytes }, api) };
  const type = memberType(listed.type);
  if (entry.type !== type)
    return `expected a resource of ${messageNameOf(type)}, got ${entry.type === undefined ? "none" : messageNameOf(entry.type)}`;
  const own = entry.name === "" ? api.readEncodedResource(type, entry.bytes).input?.name : entry.name;
  const name = entryName(collection, own ?? "");
  const { input, problems } = api.readEncodedResource(type, entry.bytes, { name });
  if (input === undefined) return problems.map(({ message }) => message).join("; ");
  const { bytes } = input;
  const { version } = entry;
  const restored = listed.isRestored === true ? { isRestored: true as const } : {};
  return {
    kind: "inline",
    name,
    resource: { type, name, aliases: [], version, bytes, ttlMs: undefined, ...restored },
  };
}

function memberType(collection: TypeUrl): TypeUrl {
  return formatTypeUrl(messageNameOf(collection).slice(0, -SUFFIX.length));
}
