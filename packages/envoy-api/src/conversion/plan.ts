import { type DescEnum, type DescField, type DescMessage, getOption, type Registry } from "@bufbuild/protobuf";
import type { ApiVersion } from "@xdskit/protocol";
import { finish, type Steps } from "@xdskit/protocol/internal";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import type { TwinNames } from "../descriptor/twin-names.ts";
import { type RuleValues, ruleCount, ruleValue } from "../validation/value-check.ts";
import { type MovedField, movedFields } from "./moved-field.ts";

/** How to convert a field. Fields that need no conversion have no plan. */
export interface ConversionFieldPlan {
  readonly name: string;
  readonly isList: boolean;
  readonly isMap: boolean;
  /** The plan of the field's messages. */
  readonly message: ConversionPlan | undefined;
  /** The field holds `Any`s. */
  readonly isAny: boolean;
  /** The enum numbers that the other version has. */
  readonly known: ReadonlySet<number> | undefined;
  /** The finding to report because the other version lacks the field: a sentence. */
  readonly finding: string | undefined;
  /** The field gives the API version, which has no use in the other version. */
  readonly isVersion: boolean;
  /** Set if the content moves to another field. */
  readonly moved: Moved | undefined;
}

/** Where the content of a field moves. */
export interface Moved {
  /** The number of the new field. If that is set too, the old one is ignored. */
  readonly to: number;
  readonly write: MovedField["write"];
}

/** How to convert a message. Compiled once per pair of messages. */
export interface ConversionPlan {
  /** Nothing in the message or below needs a change or a finding, so its bytes stay. */
  readonly isPlain: boolean;
  readonly fields: ReadonlyMap<number, ConversionFieldPlan>;
  /** Fields that only the other version requires. */
  readonly demanded: readonly DescField[];
  /** The field that gives the API version: set to "V3" in v3, dropped in v2. */
  readonly versionField: number | undefined;
  readonly target: string;
}

/** The fields that give the API version; if unset, it is the message's own. */
const VERSION_FIELDS: ReadonlyMap<string, string> = new Map([
  ["envoy.config.core.v3.ConfigSource", "resource_api_version"],
  ["envoy.config.core.v3.ApiConfigSource", "transport_api_version"],
]);

/** A plan while it is compiled. */
interface OpenPlan extends ConversionPlan {
  isPlain: boolean;
  readonly fields: Map<number, ConversionFieldPlan>;
  demanded: readonly DescField[];
  versionField: number | undefined;
  target: string;
}

/** Compiles plans for one direction. */
export class Plans {
  readonly #schema: Schema;
  readonly #names: TwinNames;
  readonly #to: ApiVersion;
  readonly #plans = new Map<DescMessage, OpenPlan>();

  constructor(schema: Schema, names: TwinNames, to: ApiVersion) {
    this.#schema = schema;
    this.#names = names;
    this.#to = to;
  }

  /** Returns the plan of a message of either version or none; an unversioned message may hold fields of both. */
  planFor(message: DescMessage): ConversionPlan {
    return this.#plans.get(message) ?? finish(this.planInSteps(message));
  }

  /** Compiles the plan of a message, and of all that there may be in it, one message in a step. */
  *planInSteps(message: DescMessage): Steps<ConversionPlan> {
    const opened = new Map<DescMessage, OpenPlan>();
    const plan = this.#open(message, opened);
    // What a message may hold is opened while its own plan is filled in, and so is reached later.
    for (const [one, open] of opened) {
      this.#fillIn(open, one, opened);
      yield;
    }
    markPlain([...opened.values()]);
    for (const [one, open] of opened) this.#plans.set(one, open);
    return plan;
  }

  #open(message: DescMessage, opened: Map<DescMessage, OpenPlan>): OpenPlan {
    const known = this.#plans.get(message) ?? opened.get(message);
    if (known !== undefined) return known;
    const plan: OpenPlan = { isPlain: false, fields: new Map(), demanded: [], versionField: undefined, target: "" };
    opened.set(message, plan);
    return plan;
  }

  #fillIn(plan: OpenPlan, message: DescMessage, opened: Map<DescMessage, OpenPlan>): void {
    const { inV3, inV2 } = this.#versionsOf(message);
    const [from, target] = this.#to === "v2" ? [inV3, inV2] : [inV2, inV3];
    const versionField = versionFieldOf(inV3);
    plan.demanded = target === from ? [] : demandedOnlyBy(target, from, this.#schema);
    plan.versionField = versionField;
    plan.target = target.typeName;
    if (isOpaque(from)) return;
    const targets = new Map(target.fields.map((field) => [field.number, field]));
    const owns = new Set(from.fields.map((field) => field.number));
    for (const field of from.fields) {
      const fieldPlan = this.#fieldPlan(field, targets.get(field.number), versionField, opened);
      if (fieldPlan !== undefined) plan.fields.set(field.number, fieldPlan);
    }
    for (const field of target.fields) {
      const fieldPlan = owns.has(field.number) ? undefined : this.#fieldPlan(field, field, versionField, opened);
      if (fieldPlan !== undefined) plan.fields.set(field.number, fieldPlan);
    }
  }

  #fieldPlan(
    field: DescField,
    twin: DescField | undefined,
    versionField: number | undefined,
    opened: Map<DescMessage, OpenPlan>,
  ): ConversionFieldPlan | undefined {
    const shape = {
      ...nothing,
      name: field.name,
      isList: field.fieldKind === "list",
      isMap: field.fieldKind === "map",
    };
    if (field.number === versionField) return { ...shape, isVersion: true };
    const moved = twin === undefined ? this.#moved(field) : undefined;
    const finding = twin === undefined && moved === undefined ? this.#tellAbsent(field) : undefined;
    if (field.message !== undefined) {
      const isAny = representationOf(field.message) === "any";
      return { ...shape, moved, finding, isAny, message: isAny ? undefined : this.#open(field.message, opened) };
    }
    if (finding !== undefined) return { ...shape, finding };
    const known = twin?.enum === undefined || field.enum === undefined ? undefined : lacking(field.enum, twin.enum);
    return known === undefined ? undefined : { ...shape, known };
  }

  /** Returns a message in each version; if the built-in v2 files lack it, the v3 one stands for both. */
  #versionsOf(message: DescMessage): { readonly inV3: DescMessage; readonly inV2: DescMessage } {
    const nameInV3 = this.#names.in("v3", message.typeName);
    const inV3 = (nameInV3 === undefined ? undefined : this.#schema.message(nameInV3)) ?? message;
    const nameInV2 = this.#names.in("v2", inV3.typeName);
    return { inV3, inV2: (nameInV2 === undefined ? undefined : this.#schema.message(nameInV2)) ?? inV3 };
  }

  #moved({ name, parent }: DescField): Moved | undefined {
    if (this.#to === "v2") return undefined;
    const message = this.#nameOf(parent.typeName);
    const one = movedFields.find((field) => field.message === message && field.name === name);
    const to = one && this.#schema.message(message)?.fields.find((field) => field.name === one.newName);
    return to && { to: to.number, write: one.write };
  }

  #tellAbsent(field: DescField): string {
    const owner = field.parent.typeName;
    if (this.#to === "v3") return `v3 has no field \`${field.name}\` in ${this.#nameOf(owner)}: clients pass over it`;
    return `v2, as it was in 2019, has no field \`${field.name}\` in ${this.#nameOf(owner)}: clients of that time pass over it`;
  }

  #nameOf(name: string): string {
    return this.#names.in(this.#to, name) ?? name;
  }
}

function versionFieldOf(inV3: DescMessage): number | undefined {
  const name = VERSION_FIELDS.get(inV3.typeName);
  return name === undefined ? undefined : inV3.fields.find((field) => field.name === name)?.number;
}

const nothing: Omit<ConversionFieldPlan, "name"> = {
  isList: false,
  isMap: false,
  message: undefined,
  isAny: false,
  known: undefined,
  finding: undefined,
  isVersion: false,
  moved: undefined,
};

/** Messages that stand for JSON need no conversion; an `Any` is converted at its field. */
function isOpaque(message: DescMessage): boolean {
  return message.typeName.startsWith("google.protobuf.");
}

/** Returns the numbers of an enum's twin if it lacks any; undefined if it has all. */
function lacking(from: DescEnum, to: DescEnum): ReadonlySet<number> | undefined {
  if (from === to) return undefined;
  const numbers = new Set(to.values.map(({ number }) => number));
  return from.values.every(({ number }) => numbers.has(number)) ? undefined : numbers;
}

function demandedOnlyBy(target: DescMessage, message: DescMessage, schema: Schema): readonly DescField[] {
  return target.fields.filter((field) => {
    const own = message.fields.find(({ number }) => number === field.number);
    const isOwnDemand = own !== undefined && demandsPresence(own, schema.registry);
    return demandsPresence(field, schema.registry) && !isOwnDemand;
  });
}

/**
 * Marks the plans that need no work, although they may refer to each other in a cycle: starts with all plain, and
 * removes those that lead to work until nothing changes.
 */
function markPlain(plans: readonly OpenPlan[]): void {
  for (const plan of plans) plan.isPlain = plan.demanded.length === 0 && plan.versionField === undefined;
  for (let isChanged = true; isChanged; ) {
    isChanged = false;
    for (const plan of plans) {
      if (!plan.isPlain || ![...plan.fields.values()].some(hasWork)) continue;
      plan.isPlain = false;
      isChanged = true;
    }
  }
  for (const plan of plans) {
    for (const [number, field] of plan.fields) if (!hasWork(field)) plan.fields.delete(number);
  }
}

function hasWork({ isAny, known, finding, isVersion, moved, message }: ConversionFieldPlan): boolean {
  if (isAny || isVersion || moved !== undefined) return true;
  return known !== undefined || finding !== undefined || message?.isPlain === false;
}

interface PresenceRules {
  readonly message?: RuleValues;
  readonly type: { readonly case: string | undefined; readonly value?: RuleValues };
}

/** Whether a descriptor rule (PGV) requires a field: explicitly, or by a minimum length above 0. */
function demandsPresence(field: DescField, registry: Registry): boolean {
  const extension = registry.getExtension("validate.rules");
  if (extension === undefined || field.oneof !== undefined) return false;
  const { message, type } = getOption(field, extension) as unknown as PresenceRules;
  const rules = type.value ?? {};
  if (field.fieldKind === "message") {
    return ruleValue(message ?? {}, "required") === true || ruleValue(rules, "required") === true;
  }
  return ["minLen", "minBytes", "minItems", "minPairs"].some((name) => (ruleCount(rules, name) ?? 0) > 0);
}
