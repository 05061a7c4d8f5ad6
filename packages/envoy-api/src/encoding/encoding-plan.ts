/** How plain data of a message is encoded. Compiled from the descriptor, once per message type, on first use. */
import { create, type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import { type Representation, representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import type { Content } from "../format/content.ts";
import { isKeptPlain } from "../format/present-field.ts";
import { fixed32Tag, fixed64Tag, lengthTag, varintTag } from "../wire/reader.ts";

/** The kind of a value. `BEYOND`: the encoder leaves it to the JSON reader. */
export const form = {
  STRING: 0,
  BOOL: 1,
  BYTES: 2,
  DOUBLE: 3,
  FLOAT: 4,
  INTEGER: 5,
  LONG: 6,
  ENUM: 7,
  MESSAGE: 8,
  LIST: 9,
  MAP: 10,
  BEYOND: 11,
} as const;

export type Form = (typeof form)[keyof typeof form];

/** The plan of one field, or of the elements of a list or map. */
export interface EncodingFieldPlan {
  readonly form: Form;
  readonly number: number;
  /** Field number and wire type; 0 for elements of a packed list, which have none. */
  readonly tag: number;
  readonly localName: string;
  /** The local name of its oneof. */
  readonly oneof: string | undefined;
  /** Zero is written too. */
  readonly hasPresence: boolean;
  /** Null is a value and does not mean absent. */
  readonly takesNull: boolean;
  /** The wrapper around the value of `form`, which the decoded message has without it. */
  readonly isWrapped: boolean;
  /** The smallest and the largest integer. */
  readonly least: number;
  readonly most: number;
  /** The numbers of an enum by name, and its default. */
  readonly numbers: ReadonlyMap<string, number>;
  readonly zero: number;
  /** The plan of the elements of a list, or of the values of a map. */
  readonly element: EncodingFieldPlan | undefined;
  /** The message in the field. */
  readonly message: DescMessage | undefined;
}

/** The plan of one message type. */
export interface EncodingPlan {
  readonly message: DescMessage;
  readonly type: TypeUrl;
  readonly representation: Representation;
  /** By proto name and by JSON name. */
  readonly fields: ReadonlyMap<string, EncodingFieldPlan>;
  /** The message without any field set, from which decoded ones inherit. */
  readonly empty: Content;
}

const IMPLICIT_PRESENCE = 2;
const LEGACY_REQUIRED = 3;
const MAP_VALUE = 2;
const WRAPPED_VALUE = 1;

const noNumbers: ReadonlyMap<string, number> = new Map();

/** The plans of all messages. */
export class EncodingPlans {
  readonly #schema: Schema;
  readonly #plans = new Map<DescMessage, EncodingPlan>();

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  of(message: DescMessage): EncodingPlan {
    let plan = this.#plans.get(message);
    if (plan === undefined) {
      plan = this.#compile(message);
      this.#plans.set(message, plan);
    }
    return plan;
  }

  #compile(message: DescMessage): EncodingPlan {
    const ofField = new Map(message.fields.map((field) => [field, fieldPlan(field)]));
    const fields = new Map<string, EncodingFieldPlan>();
    for (const [key, field] of this.#schema.shapeOf(message).fieldNamed) {
      const plan = ofField.get(field);
      if (plan !== undefined) fields.set(key, plan);
    }
    const type = formatTypeUrl(message.typeName);
    return { message, type, representation: representationOf(message), fields, empty: create(message) as Content };
  }
}

function fieldPlan(field: DescField): EncodingFieldPlan {
  const { number, localName } = field;
  const hasPresence = field.oneof !== undefined || field.presence !== IMPLICIT_PRESENCE;
  const place = { ...nowhere, number, localName, oneof: field.oneof?.localName, hasPresence };
  const isGroup = "delimitedEncoding" in field && field.delimitedEncoding;
  if (isGroup || field.presence === LEGACY_REQUIRED) return { ...place, form: form.BEYOND };
  switch (field.fieldKind) {
    case "list": {
      const element = valuePlan(field, { ...place, hasPresence: true });
      const isPacked = field.packed && field.listKind !== "message";
      return isPacked
        ? { ...place, form: form.LIST, tag: lengthTag(number), element: { ...element, tag: 0 } }
        : { ...place, form: form.LIST, element };
    }
    case "map": {
      // Other keys are rare, and their order is not that of their texts.
      if (field.mapKey !== ScalarType.STRING) return { ...place, form: form.BEYOND };
      const element = valuePlan(field, { ...place, number: MAP_VALUE, hasPresence: true });
      return { ...place, form: form.MAP, tag: lengthTag(number), element };
    }
    case "message":
      return singularMessagePlan(field, field.message, place);
    default:
      return valuePlan(field, place);
  }
}

function singularMessagePlan(field: DescField, message: DescMessage, place: EncodingFieldPlan): EncodingFieldPlan {
  const representation = representationOf(message);
  if (representation !== "wrapper" || !isKeptPlain(field))
    return { ...valuePlan(field, place), takesNull: representation === "value" };
  const scalar = message.fields[0]?.scalar;
  if (scalar === undefined) return { ...place, form: form.BEYOND };
  const tag = lengthTag(place.number);
  const element = scalarPlan(scalar, { ...place, number: WRAPPED_VALUE, hasPresence: false });
  return { ...place, form: element.form, tag, isWrapped: true, element };
}

/** What a value is that is neither a list nor a map. */
function valuePlan(field: DescField, place: EncodingFieldPlan): EncodingFieldPlan {
  const { number } = place;
  if (field.message !== undefined)
    return { ...place, form: form.MESSAGE, tag: lengthTag(number), message: field.message };
  if (field.enum !== undefined) {
    // Null is a value of this one.
    if (field.enum.typeName === "google.protobuf.NullValue") return { ...place, form: form.BEYOND };
    const numbers = new Map(field.enum.values.map((value) => [value.name, value.number]));
    return { ...place, form: form.ENUM, tag: varintTag(number), numbers, zero: field.enum.values[0]?.number ?? 0 };
  }
  // A long that is a text when decoded is nowhere in Envoy's API.
  if ("longAsString" in field && field.longAsString) return { ...place, form: form.BEYOND };
  return scalarPlan(field.scalar, place);
}

function scalarPlan(scalar: ScalarType, place: EncodingFieldPlan): EncodingFieldPlan {
  const { number } = place;
  switch (scalar) {
    case ScalarType.STRING:
      return { ...place, form: form.STRING, tag: lengthTag(number) };
    case ScalarType.BYTES:
      return { ...place, form: form.BYTES, tag: lengthTag(number) };
    case ScalarType.BOOL:
      return { ...place, form: form.BOOL, tag: varintTag(number) };
    case ScalarType.DOUBLE:
      return { ...place, form: form.DOUBLE, tag: fixed64Tag(number) };
    case ScalarType.FLOAT:
      return { ...place, form: form.FLOAT, tag: fixed32Tag(number) };
    case ScalarType.INT32:
      return { ...place, form: form.INTEGER, tag: varintTag(number), least: -(2 ** 31), most: 2 ** 31 - 1 };
    case ScalarType.UINT32:
      return { ...place, form: form.INTEGER, tag: varintTag(number), least: 0, most: 2 ** 32 - 1 };
    case ScalarType.INT64:
      return { ...place, form: form.LONG, tag: varintTag(number), least: -LARGEST, most: LARGEST };
    case ScalarType.UINT64:
      return { ...place, form: form.LONG, tag: varintTag(number), least: 0, most: LARGEST };
    default:
      return { ...place, form: form.BEYOND };
  }
}

const LARGEST = Number.MAX_SAFE_INTEGER;

const nowhere: EncodingFieldPlan = {
  form: form.BEYOND,
  number: 0,
  tag: 0,
  localName: "",
  oneof: undefined,
  hasPresence: false,
  takesNull: false,
  isWrapped: false,
  least: 0,
  most: 0,
  numbers: noNumbers,
  zero: 0,
  element: undefined,
  message: undefined,
};
