import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import { messageNameOf } from "@xdskit/protocol";
import type { ConfigSource } from "../../gen/types/envoy/config/core/v3/config_source_pb.d.ts";
import type { Schema } from "../descriptor/schema.ts";
import type { Content } from "../format/content.ts";
import { fieldContent } from "../format/present-field.ts";
import { type AskedReference, isAskedOverXds } from "./config-source.ts";
import type { CatalogEntry } from "./entry.ts";
import type { FindingReader } from "./message-visits.ts";
import { type ReferenceRule, referenceRules } from "./reference-rule.ts";

/** Adds the references in the own fields of one message. */
export type ReferenceReader = FindingReader<AskedReference>;

/** Returns the readers by full message name. Skips rules for messages without a descriptor. */
export function referenceReaders(
  schema: Schema,
  catalog: readonly CatalogEntry[],
): ReadonlyMap<string, readonly ReferenceReader[]> {
  const readers = new Map<string, ReferenceReader[]>();
  const add = (message: string, reader: ReferenceReader): void => {
    const present = readers.get(message);
    if (present === undefined) readers.set(message, [reader]);
    else present.push(reader);
  };
  for (const rule of referenceRules) {
    const reader = readerFor(rule, schema);
    if (reader !== undefined) add(rule.message, reader);
  }
  for (const { type, referencesIn } of catalog) {
    if (referencesIn === undefined) continue;
    add(messageNameOf(type), (content, references) => {
      for (const reference of referencesIn(content)) references.push(reference);
    });
  }
  return readers;
}

function readerFor(rule: ReferenceRule, schema: Schema): ReferenceReader | undefined {
  const message = schema.message(rule.message);
  const field = message === undefined ? undefined : schema.shapeOf(message).fieldNamed.get(rule.field);
  if (message === undefined || field === undefined) return undefined;
  const source = rule.source === undefined ? undefined : fieldsOnTheWay(message, rule.source, schema);
  return (content, references) => {
    const asked = source && sourceBehind(content, source);
    if (source !== undefined && !isAskedOverXds(asked)) return;
    for (const name of namesIn(fieldContent(content, field) ?? rule.whenEmpty))
      references.push({ type: rule.refersTo, name, source: asked });
  };
}

function namesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? value.flatMap(namesIn) : [];
}

/** Returns the fields on a dotted path, as far as they exist. */
export function fieldsOnTheWay(message: DescMessage, dotted: string, schema: Schema): readonly DescField[] {
  const fields: DescField[] = [];
  let here: DescMessage | undefined = message;
  for (const name of dotted.split(".")) {
    const field: DescField | undefined = here && schema.shapeOf(here).fieldNamed.get(name);
    if (field === undefined) break;
    fields.push(field);
    here = field.message;
  }
  return fields;
}

/** Returns the config source at the end of a path, if it is set. */
export function sourceBehind(content: Content, way: readonly DescField[]): ConfigSource | undefined {
  let here: unknown = content;
  for (const field of way) {
    if (here === undefined) return undefined;
    here = fieldContent(here as Content, field);
  }
  return here as (Message & ConfigSource) | undefined;
}
