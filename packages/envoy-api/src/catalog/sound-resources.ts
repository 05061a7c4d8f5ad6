import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import type { TypeUrl } from "@xdskit/protocol";
import type { Schema } from "../descriptor/schema.ts";
import { Soundness } from "../soundness/soundness.ts";
import { entryOf, entryOfTwin } from "./catalog.ts";
import { redirectType } from "./redirect.ts";
import { isWrapperType } from "./resource-wrapper.ts";

/** A type whose resources can be checked without decoding. */
interface PlainType {
  readonly message: DescMessage;
  /** The number of the name field; 0 if there is none. */
  readonly nameNumber: number;
}

/** Finds the names of sound resources without decoding them. */
export class SoundResources {
  readonly #schema: Schema;
  readonly #byRules: Soundness;
  readonly #withoutRules: Soundness;
  readonly #types = new Map<TypeUrl, PlainType | undefined>();

  constructor(schema: Schema) {
    this.#schema = schema;
    this.#byRules = new Soundness(schema, true);
    this.#withoutRules = new Soundness(schema, false);
  }

  nameOf(type: TypeUrl, bytes: Uint8Array, hasRules: boolean): string | undefined {
    const plain = this.#types.get(type) ?? this.#learn(type);
    if (plain === undefined) return undefined;
    const soundness = hasRules ? this.#byRules : this.#withoutRules;
    return soundness.nameIfSound(plain.message, bytes, plain.nameNumber);
  }

  #learn(type: TypeUrl): PlainType | undefined {
    const plain = this.#plainType(type);
    // Unknown types are not kept, because servers may name any number of them.
    if (plain !== undefined) this.#types.set(type, plain);
    return plain;
  }

  /** Undefined for types that need more than their bytes to check. */
  #plainType(type: TypeUrl): PlainType | undefined {
    const message = this.#schema.message(type);
    const isSpecial = type === redirectType || isWrapperType(type) || entryOfTwin(type) !== undefined;
    if (message === undefined || isSpecial) return undefined;
    const entry = entryOf(type);
    if (entry?.aliasesIn !== undefined) return undefined;
    const nameField = entry === undefined ? "name" : entry.nameField;
    const field = message.fields.find(({ localName }) => localName === nameField);
    if (field === undefined) return entry?.nameIn === undefined ? { message, nameNumber: 0 } : undefined;
    const isText = field.fieldKind === "scalar" && field.scalar === ScalarType.STRING && field.oneof === undefined;
    return isText ? { message, nameNumber: field.number } : undefined;
  }
}
