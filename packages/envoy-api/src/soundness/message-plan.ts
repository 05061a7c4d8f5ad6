/**
 * What the bytes of a message must look like to be sound: decodable, and valid by its descriptor's rules, without
 * creating an object. Compiled from the validator's checks, once per message type.
 */
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { ProblemList } from "../format/problem-list.ts";
import {
  compileFieldCheck,
  type FieldCheck,
  isCheckedWhenUnset,
  isPlainValue,
  isRequiredOneof,
  isValidationDisabled,
} from "../validation/field-check.ts";
import { anyLength, type LengthBounds, type ValueCheck } from "../validation/value-check.ts";
import { lengthTag } from "../wire/reader.ts";
import { isCheckable, scalarTag, zeroOf } from "./scalar.ts";

/** How the value of a field is read. `BEYOND`: it is not, so the message must be decoded. */
export const form = { SCALAR: 0, PACKED: 1, MESSAGE: 2, DURATION: 3, BEYOND: 4 } as const;

/** The plan of one field. */
export interface SoundnessFieldPlan {
  readonly form: (typeof form)[keyof typeof form];
  /** Field number and wire type, as encoders write them. */
  readonly tag: number;
  /** The field's index in the message; all members of a oneof share one. */
  readonly slot: number;
  /** How many values may follow each other; at most 1 for a single value. */
  readonly count: LengthBounds;
  /** Any number from 1, in any position. */
  readonly isFree: boolean;
  /** The type of a scalar, or of the elements of a packed list. */
  readonly scalar: ScalarType;
  /** The checks of the value; text and bytes with a length within `sound` need none. */
  readonly checks: readonly ValueCheck[];
  readonly sound: LengthBounds;
  /** Returns the plan of a message field. */
  readonly below: () => SoundnessPlan;
}

/** The plan of one message type. */
export interface SoundnessPlan {
  /** By field number. */
  readonly fields: readonly (SoundnessFieldPlan | undefined)[];
  /** Bits of the required slots: the first 32, and the others. */
  readonly requiredLow: number;
  readonly requiredHigh: number;
  /** An `Any`: its content is checked too, if its type is known. */
  readonly isAny: boolean;
  /** Whether unknown fields are not allowed. */
  readonly isClosed: boolean;
}

const SLOTS_OF_WORD = 32;
const MOST_SLOTS = 2 * SLOTS_OF_WORD;
const ONE: LengthBounds = { least: 0, most: 1 };
const noChecks: readonly never[] = [];

/** The plans of all messages; `hasRules`: with the rules of their descriptors. */
export class MessagePlans {
  readonly #schema: Schema;
  readonly #hasRules: boolean;
  readonly #plans = new Map<DescMessage, SoundnessPlan>();
  /** Plans without rules, for messages that no rule applies to. */
  readonly #bare: MessagePlans;

  constructor(schema: Schema, hasRules: boolean) {
    this.#schema = schema;
    this.#hasRules = hasRules;
    this.#bare = hasRules ? new MessagePlans(schema, false) : this;
  }

  of(message: DescMessage): SoundnessPlan {
    const known = this.#plans.get(message);
    if (known !== undefined) return known;
    const isBare = this.#hasRules && isValidationDisabled(message, this.#schema.registry);
    const plan = isBare ? this.#bare.of(message) : this.#compile(message);
    this.#plans.set(message, plan);
    return plan;
  }

  #compile(message: DescMessage): SoundnessPlan {
    const { registry } = this.#schema;
    const slots = new Slots();
    const fields: (SoundnessFieldPlan | undefined)[] = [];
    for (const field of message.fields) {
      const check = this.#hasRules ? compileFieldCheck(field, registry) : undefined;
      const slot = slots.of(field.oneof ?? field);
      fields[field.number] = slot < MOST_SLOTS ? this.#plan(field, slot, check) : beyond(field.number, slot);
      if (check !== undefined && isNeeded(field, check)) slots.require(slot);
    }
    for (const oneof of this.#hasRules ? message.oneofs : []) {
      if (isRequiredOneof(oneof, registry)) slots.require(slots.of(oneof));
    }
    const isAny = this.#hasRules && representationOf(message) === "any";
    return { fields, ...slots.required, isAny, isClosed: false };
  }

  #plan(field: DescField, slot: number, check: FieldCheck | undefined): SoundnessFieldPlan {
    const { number } = field;
    switch (field.fieldKind) {
      case "list": {
        const count = check?.bounds.own ?? anyLength;
        const checks = check?.elementChecks ?? noChecks;
        const element = this.#planValue(field, { number, slot, count, checks, sound: check?.bounds.elements });
        const isPacked = element.form === form.SCALAR && element.tag !== lengthTag(number);
        return isPacked ? { ...element, form: form.PACKED, tag: lengthTag(number) } : element;
      }
      case "map": {
        const entry = this.#planEntry(field, check);
        const count = check?.bounds.own ?? anyLength;
        return planOf(form.MESSAGE, { number, slot, count }, { below: () => entry });
      }
      default: {
        // An explicit zero counts as unset here, and a closed enum ignores unknown numbers.
        const isBeyond = field.fieldKind !== "message" && (check?.isRequired === true || field.enum?.open === false);
        if (isBeyond) return beyond(number, slot);
        const checks = check?.checks ?? noChecks;
        return this.#planValue(field, { number, slot, count: ONE, checks, sound: check?.bounds.own }, check?.isSkipped);
      }
    }
  }

  /** A map entry has a key and a value, each once. */
  #planEntry(field: DescField & { readonly fieldKind: "map" }, check: FieldCheck | undefined): SoundnessPlan {
    const [KEY, VALUE] = [1, 2];
    const slots = new Slots();
    const keySlot = slots.of("key");
    const valueSlot = slots.of("value");
    const sound = check?.bounds.keys;
    const key = planScalar(field.mapKey, { number: KEY, slot: keySlot, count: ONE, checks: check?.keyChecks, sound });
    // Rules of keys apply to their text.
    const isTold = key.checks.length === 0 || field.mapKey === ScalarType.STRING;
    const value = this.#planValue(field, {
      number: VALUE,
      slot: valueSlot,
      count: ONE,
      checks: check?.elementChecks,
      sound: check?.bounds.elements,
    });
    slots.require(keySlot);
    slots.require(valueSlot);
    const fields = [undefined, isTold ? key : beyond(KEY, keySlot), value];
    return { fields, ...slots.required, isAny: false, isClosed: true };
  }

  #planValue(field: DescField, place: Place, isSkipped = false): SoundnessFieldPlan {
    if (field.message !== undefined) return this.#planMessage(field, field.message, place, isSkipped);
    return planScalar(field.enum === undefined ? field.scalar : ScalarType.INT32, place);
  }

  #planMessage(field: DescField, message: DescMessage, place: Place, isSkipped: boolean): SoundnessFieldPlan {
    if ("delimitedEncoding" in field && field.delimitedEncoding) return beyond(place.number, place.slot);
    const { checks = noChecks, sound } = place;
    if (checks.length === 0) {
      const plans = isSkipped || isPlainValue(field) ? this.#bare : this;
      let below: SoundnessPlan | undefined;
      return planOf(form.MESSAGE, place, { below: () => (below ??= plans.of(message)) });
    }
    const representation = representationOf(message);
    if (representation === "duration") return planOf(form.DURATION, place, { checks });
    const [inner] = message.fields;
    if (representation !== "wrapper" || field.fieldKind !== "message" || inner?.fieldKind !== "scalar")
      return beyond(place.number, place.slot);
    const slots = new Slots();
    const slot = slots.of(inner);
    if (breaksAny(checks, zeroOf(inner.scalar))) slots.require(slot);
    const value = planScalar(inner.scalar, { number: inner.number, slot, count: ONE, checks, sound });
    const fields: (SoundnessFieldPlan | undefined)[] = [];
    fields[inner.number] = value;
    const wrapper = { fields, ...slots.required, isAny: false, isClosed: false };
    return planOf(form.MESSAGE, place, { below: () => wrapper });
  }
}

/** The position of a value, and its checks. */
interface Place {
  readonly number: number;
  readonly slot: number;
  readonly count: LengthBounds;
  readonly checks?: readonly ValueCheck[] | undefined;
  readonly sound?: LengthBounds | undefined;
}

/** Assigns slots to the fields of a message and collects the required ones. */
class Slots {
  readonly #slots = new Map<unknown, number>();
  readonly required = { requiredLow: 0, requiredHigh: 0 };

  of(member: unknown): number {
    const slot = this.#slots.get(member) ?? this.#slots.size;
    this.#slots.set(member, slot);
    return slot;
  }

  require(slot: number): void {
    this.required[slot < SLOTS_OF_WORD ? "requiredLow" : "requiredHigh"] |= 1 << slot;
  }
}

function planScalar(scalar: ScalarType, place: Place): SoundnessFieldPlan {
  const { number, slot, checks = noChecks, sound = anyLength } = place;
  if (checks.length > 0 && !isCheckable(scalar)) return beyond(number, slot);
  return { ...planOf(form.SCALAR, place, { checks, sound }), tag: scalarTag(number, scalar), scalar };
}

function beyond(number: number, slot: number): SoundnessFieldPlan {
  return planOf(form.BEYOND, { number, slot, count: anyLength }, {});
}

function planOf(
  how: SoundnessFieldPlan["form"],
  { number, slot, count }: Place,
  {
    checks = noChecks,
    sound = anyLength,
    below = noMessage,
  }: Partial<Pick<SoundnessFieldPlan, "checks" | "sound" | "below">>,
): SoundnessFieldPlan {
  const isFree = count.least <= 1 && count.most === Number.POSITIVE_INFINITY;
  return { form: how, tag: lengthTag(number), slot, count, isFree, scalar: ScalarType.BYTES, checks, sound, below };
}

function noMessage(): SoundnessPlan {
  throw new Error("expected the plan of a message, got a field of another kind");
}

/** Whether a message without the field violates a rule. */
function isNeeded(field: DescField, { isRequired, checks }: FieldCheck): boolean {
  if (isRequired && field.oneof === undefined) return true;
  if (!isCheckedWhenUnset(field)) return false;
  switch (field.fieldKind) {
    case "list":
      return breaksAny(checks, []);
    case "map":
      return breaksAny(checks, {});
    case "enum":
      return breaksAny(checks, field.enum.values[0]?.number);
    default:
      return breaksAny(checks, zeroOf(field.scalar ?? ScalarType.INT32));
  }
}

function breaksAny(checks: readonly ValueCheck[], value: unknown): boolean {
  const problems = new ProblemList();
  for (const check of checks) check(value, problems);
  return problems.problems.length > 0;
}
