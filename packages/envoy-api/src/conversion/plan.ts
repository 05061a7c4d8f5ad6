import type { DescEnum, DescField, DescMessage } from "@bufbuild/protobuf";
import type { ApiVersion } from "@xdskit/protocol";
import { representationOf } from "../descriptor/message-shape.ts";
import type { Schema } from "../descriptor/schema.ts";
import { demandsPresence } from "./presence.ts";
import type { TwinNames } from "./twin-names.ts";

/** What is to be done with a field on the way to the other version. Fields that need nothing have none. */
export interface FieldPlan {
  readonly name: string;
  readonly isList: boolean;
  readonly isMap: boolean;
  /** The messages in it are looked into. */
  readonly message: MessagePlan | undefined;
  /** The messages in it are `Any`s. */
  readonly isAny: boolean;
  /** The numbers that the enum has in the other version. */
  readonly known: ReadonlySet<number> | undefined;
  /** What is to be said of it, because the other version does not have it: a sentence. */
  readonly finding: string | undefined;
  /** It says which version is meant: of no use to the other one. */
  readonly isVersion: boolean;
}

/** How a message becomes one of the other version. Compiled once for each pair. */
export interface MessagePlan {
  /** Nothing in it or below it has to be changed or told of: its bytes are those of the other version. */
  readonly isPlain: boolean;
  readonly fields: ReadonlyMap<number, FieldPlan>;
  /** Fields that the other version demands, and this one does not. */
  readonly demanded: readonly DescField[];
  /** The field that is to say "V3", where the result is of v3. */
  readonly versionField: number | undefined;
  readonly target: string;
}

/** Fields by which a message says which version of the API is to be spoken about it: left unset, it is the one it is in itself. */
const VERSION_FIELDS: ReadonlyMap<string, string> = new Map([
  ["envoy.config.core.v3.ConfigSource", "resource_api_version"],
  ["envoy.config.core.v3.ApiConfigSource", "transport_api_version"],
]);

interface OpenPlan extends MessagePlan {
  isPlain: boolean;
  readonly fields: Map<number, FieldPlan>;
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

  /** The plan for a message that stands in the version that is left, or in both. */
  planFor(message: DescMessage): MessagePlan {
    const known = this.#plans.get(message);
    if (known !== undefined) return known;
    const opened: OpenPlan[] = [];
    const plan = this.#open(message, opened);
    markPlain(opened);
    return plan;
  }

  #open(message: DescMessage, opened: OpenPlan[]): OpenPlan {
    const known = this.#plans.get(message);
    if (known !== undefined) return known;
    const target = this.#targetOf(message);
    const versionField = this.#versionFieldOf(message, target);
    const plan: OpenPlan = {
      isPlain: false,
      fields: new Map(),
      demanded: target === message ? [] : demandedOnlyBy(target, message, this.#schema),
      versionField,
      target: target.typeName,
    };
    this.#plans.set(message, plan);
    opened.push(plan);
    if (isOpaque(message)) return plan;
    const targets = new Map(target.fields.map((field) => [field.number, field]));
    for (const field of message.fields) {
      const twin = target === message ? field : targets.get(field.number);
      const isVersion = field.number === versionField;
      const fieldPlan = this.#fieldPlan(field, twin, isVersion, opened);
      if (fieldPlan !== undefined) plan.fields.set(field.number, fieldPlan);
    }
    if (versionField !== undefined && !plan.fields.has(versionField)) {
      plan.fields.set(versionField, { ...nothing, name: "", isVersion: true });
    }
    return plan;
  }

  #fieldPlan(
    field: DescField,
    twin: DescField | undefined,
    isVersion: boolean,
    opened: OpenPlan[],
  ): FieldPlan | undefined {
    const shape = {
      ...nothing,
      name: field.name,
      isList: field.fieldKind === "list",
      isMap: field.fieldKind === "map",
    };
    if (isVersion) return { ...shape, isVersion };
    const finding = twin === undefined ? this.#absent(field) : undefined;
    if (field.message !== undefined) {
      const isAny = representationOf(field.message) === "any";
      return { ...shape, finding, isAny, message: isAny ? undefined : this.#open(field.message, opened) };
    }
    if (finding !== undefined) return { ...shape, finding };
    const known = twin?.enum === undefined || field.enum === undefined ? undefined : lacking(field.enum, twin.enum);
    return known === undefined ? undefined : { ...shape, known };
  }

  /** The descriptor of the other version; its own, if there is none: then the numbers of this version are taken for both. */
  #targetOf(message: DescMessage): DescMessage {
    const name = this.#names.in(this.#to, message.typeName);
    return (name === undefined ? undefined : this.#schema.message(name)) ?? message;
  }

  #versionFieldOf(message: DescMessage, target: DescMessage): number | undefined {
    const ofV3 = this.#to === "v2" ? message : target;
    const name = VERSION_FIELDS.get(ofV3.typeName);
    return name === undefined ? undefined : ofV3.fields.find((field) => field.name === name)?.number;
  }

  #absent(field: DescField): string {
    const owner = field.parent.typeName;
    if (this.#to === "v3") return `v3 has no field "${field.name}" in ${this.#nameOf(owner)}: clients pass over it`;
    return `v2, as it was in 2019, has no field "${field.name}" in ${this.#nameOf(owner)}: clients of that time pass over it`;
  }

  #nameOf(name: string): string {
    return this.#names.in(this.#to, name) ?? name;
  }
}

const nothing: Omit<FieldPlan, "name"> = {
  isList: false,
  isMap: false,
  message: undefined,
  isAny: false,
  known: undefined,
  finding: undefined,
  isVersion: false,
};

/** Of what stands for JSON there is nothing to convert; an `Any` is converted by whoever finds it in a field. */
function isOpaque(message: DescMessage): boolean {
  return message.typeName.startsWith("google.protobuf.");
}

/** The numbers of an enum's twin, if it lacks any; undefined: it has them all. */
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
 * Finds the plans that have nothing to do, though they may hold one another in a circle: all those from which no work can be
 * reached. What is not plain makes those that hold it not plain either, until nothing changes.
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

function hasWork({ isAny, known, finding, isVersion, message }: FieldPlan): boolean {
  return isAny || isVersion || known !== undefined || finding !== undefined || message?.isPlain === false;
}
