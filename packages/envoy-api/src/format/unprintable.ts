import type { DescMessage } from "@bufbuild/protobuf";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { type AnyContent, type Content, DEEPEST_ANY, decodeAny } from "./content.ts";
import { forEachField, messagesIn } from "./present-field.ts";

/** What printing a message loses. */
export interface Unprintable {
  /** Types of `Any`s without a descriptor; JSON cannot hold their content in a form that other readers accept. */
  readonly types: readonly string[];
  /** Full names of messages with unknown fields. */
  readonly unknownFieldsOf: readonly string[];
}

/** Finds what printing a decoded message would omit, or print in a form that other readers do not accept. */
export function findUnprintable(message: DescMessage, content: Content, schema: Schema): Unprintable {
  const search = new Search(schema);
  search.visit(message, content, 0);
  return { types: [...search.types], unknownFieldsOf: [...search.unknownFieldsOf] };
}

class Search {
  readonly types = new Set<string>();
  readonly unknownFieldsOf = new Set<string>();
  readonly #schema: Schema;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  visit(message: DescMessage, content: Content, anyDepth: number): void {
    if (content.$unknown !== undefined && content.$unknown.length > 0) this.unknownFieldsOf.add(message.typeName);
    if (representationOf(message) === "any") {
      this.#any(content as unknown as AnyContent, anyDepth);
      return;
    }
    forEachField(this.#schema.shapeOf(message), content, (field, value) => {
      for (const nested of messagesIn(field, value)) {
        if (field.message !== undefined) this.visit(field.message, nested.content, anyDepth);
      }
    });
  }

  #any(any: AnyContent, anyDepth: number): void {
    if (any.typeUrl === "") return;
    const decoded = anyDepth < DEEPEST_ANY ? decodeAny(any, this.#schema) : undefined;
    if (decoded === undefined) this.types.add(any.typeUrl);
    else this.visit(decoded.message, decoded.content, anyDepth + 1);
  }
}
