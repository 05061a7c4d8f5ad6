import { parseTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { CollectionEntry as Message } from "../../gen/types/xds/core/v3/collection_entry_pb.d.ts";
import { listCollectionTypes } from "../descriptor/list-collection-types.ts";
import type { Schema } from "../descriptor/schema.ts";
import { decodeOrReport, encodeContent } from "../format/content.ts";
import { ProblemList } from "../format/problem-list.ts";
import { listenerCollection } from "./list-collection.ts";
import { redirectType } from "./redirect.ts";

/** An entry of a list collection (B-XTP-07). */
export type CollectionEntry =
  /** The resource is elsewhere; `bytes` is an encoded `ResourceLocator`. */
  | { readonly kind: "locator"; readonly type: TypeUrl; readonly bytes: Uint8Array }
  /** The resource is in the collection. `type` is undefined if the entry is empty; the name may be "". */
  | {
      readonly kind: "inline";
      readonly name: string;
      readonly version: string;
      readonly type: TypeUrl | undefined;
      readonly bytes: Uint8Array;
    };

const ENTRY = "xds.core.v3.CollectionEntry";
/** The field name in Envoy's collections, and the one in the documentation of collections. */
const FIELDS = ["entries", "resources"];

/**
 * Returns the entries of a list collection; undefined if the type is none or the bytes cannot be decoded. Omits empty
 * entries.
 */
export function collectionEntries(
  type: TypeUrl,
  bytes: Uint8Array,
  schema: Schema,
): readonly CollectionEntry[] | undefined {
  // All list collections have the same layout, but only the listeners' descriptor has a repeated field, and that of
  // endpoints may be missing.
  const message = schema.message(listCollectionTypes.has(type) ? listenerCollection.type : type);
  const field = message?.fields.find(({ name, message: of }) => FIELDS.includes(name) && of?.typeName === ENTRY);
  if (message === undefined || field === undefined) return undefined;
  const content = decodeOrReport(message, bytes, new ProblemList());
  if (content === undefined) return undefined;
  const value = content[field.localName];
  const entries = (Array.isArray(value) ? value : value === undefined ? [] : [value]) as readonly Message[];
  return entries.flatMap((entry) => entryOf(entry, schema) ?? []);
}

function entryOf({ resourceSpecifier: is }: Message, schema: Schema): CollectionEntry | undefined {
  switch (is.case) {
    case "locator": {
      const message = schema.message(redirectType);
      return message && { kind: "locator", type: redirectType, bytes: encodeContent(message, is.value) };
    }
    case "inlineEntry": {
      const { name, version, resource } = is.value;
      const type = resource && parseTypeUrl(resource.typeUrl);
      return { kind: "inline", name, version, type, bytes: resource?.value ?? new Uint8Array() };
    }
    case undefined:
      return undefined;
  }
}
