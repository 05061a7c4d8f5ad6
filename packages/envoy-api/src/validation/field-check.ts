import { type DescField, type DescMessage, type DescOneof, getOption, type Registry } from "@bufbuild/protobuf";
import { representationOf } from "../descriptor/message-shape.ts";
import type { ProblemList } from "../format/problem-list.ts";
import { numberOrdering, orderChecks, secondsOrdering } from "./order-check.ts";
import { bytesBounds, bytesChecks, count, stringBounds, stringChecks } from "./text-check.ts";
import {
  anyLength,
  type LengthBounds,
  noLength,
  type RuleValues,
  ruleCount,
  ruleList,
  ruleValue,
  type ValueCheck,
} from "./value-check.ts";

/** The validation rules of one field. */
export interface FieldCheck {
  readonly isRequired: boolean;
  /** Nested messages in the field are not validated. */
  readonly isSkipped: boolean;
  /** For a single value, or for a list or map as a whole. */
  readonly checks: readonly ValueCheck[];
  /** For each element of a list and each value of a map. */
  readonly elementChecks: readonly ValueCheck[];
  readonly keyChecks: readonly ValueCheck[];
  /** Lengths that violate none of `checks`, of `elementChecks`, of `keyChecks`. */
  readonly bounds: { readonly own: LengthBounds; readonly elements: LengthBounds; readonly keys: LengthBounds };
}

/** `validate.FieldRules`, as read from the options of a field. */
interface FieldRules {
  readonly message?: RuleValues;
  readonly type: { readonly case: string | undefined; readonly value?: RuleValues };
}

/** Compiles the `validate.rules` of a field; undefined if it has none. */
export function compileFieldCheck(field: DescField, registry: Registry): FieldCheck | undefined {
  const extension = registry.getExtension("validate.rules");
  if (extension === undefined) return undefined;
  const rules = getOption(field, extension) as unknown as FieldRules;
  if (rules.type.case === undefined && rules.message === undefined) return undefined;
  const values = rules.type.value ?? {};
  const ofElements = ruleValue(values, field.fieldKind === "map" ? "values" : "items") as FieldRules | undefined;
  const ofKeys = ruleValue(values, "keys") as FieldRules | undefined;
  return {
    isRequired: ruleValue(rules.message ?? {}, "required") === true || ruleValue(values, "required") === true,
    isSkipped: ruleValue(rules.message ?? {}, "skip") === true,
    checks: checksOf(rules, field),
    elementChecks: nestedChecks(ofElements, field),
    keyChecks: nestedChecks(ofKeys, field),
    bounds: { own: boundsOf(rules), elements: boundsOf(ofElements), keys: boundsOf(ofKeys) },
  };
}

/** Whether `validate.disabled` or `validate.ignored` excludes a message from validation. */
export function isValidationDisabled(message: DescMessage, registry: Registry): boolean {
  return ["validate.disabled", "validate.ignored"].some((name) => {
    const extension = registry.getExtension(name);
    return extension !== undefined && getOption(message, extension) === true;
  });
}

/** Whether one of the fields of a oneof must be set. */
export function isRequiredOneof(oneof: DescOneof, registry: Registry): boolean {
  const required = registry.getExtension("validate.required");
  return required !== undefined && getOption(oneof, required) === true;
}

function nestedChecks(rules: FieldRules | undefined, field: DescField): readonly ValueCheck[] {
  return rules === undefined ? [] : checksOf(rules, field);
}

function boundsOf(rules: FieldRules | undefined): LengthBounds {
  const values = rules?.type.value ?? {};
  switch (rules?.type.case) {
    case undefined:
      return anyLength;
    case "string":
      return stringBounds(values);
    case "bytes":
      return bytesBounds(values);
    case "repeated": {
      const isUnique = ruleValue(values, "unique") === true;
      const most = ruleCount(values, "maxItems") ?? Number.POSITIVE_INFINITY;
      return { least: ruleCount(values, "minItems") ?? 0, most: isUnique ? Math.min(most, 1) : most };
    }
    case "map": {
      const least = ruleCount(values, "minPairs") ?? 0;
      // Two entries may share a key, so the number of entries on the wire does not tell.
      return least > 1 ? noLength : { least, most: ruleCount(values, "maxPairs") ?? Number.POSITIVE_INFINITY };
    }
    default:
      return noLength;
  }
}

function checksOf({ type }: FieldRules, field: DescField): readonly ValueCheck[] {
  const rules = type.value ?? {};
  switch (type.case) {
    case undefined:
      return [];
    case "string":
      return stringChecks(rules);
    case "bytes":
      return bytesChecks(rules);
    case "bool":
      return orderChecks(rules, numberOrdering);
    case "enum":
      return enumChecks(rules, field);
    case "repeated":
      return listChecks(rules);
    case "map":
      return pairChecks(rules);
    case "any":
      return anyChecks(rules);
    case "duration":
    case "timestamp":
      return orderChecks(rules, secondsOrdering);
    default:
      return orderChecks(rules, numberOrdering);
  }
}

function enumChecks(rules: RuleValues, field: DescField): readonly ValueCheck[] {
  const names = field.enum?.value ?? {};
  const format = (value: unknown): string => names[Number(value)]?.name ?? String(value);
  const checks = [...orderChecks(rules, { ...numberOrdering, format })];
  if (ruleValue(rules, "definedOnly") === true) {
    checks.push((value, problems) => {
      if (names[Number(value)] === undefined) {
        problems.warning(
          "PGV_DEFINED_ONLY",
          `expected a value that ${field.enum?.typeName} defines, got ${String(value)}`,
        );
      }
    });
  }
  return checks;
}

function listChecks(rules: RuleValues): readonly ValueCheck[] {
  const checks = sizeChecks(
    rules,
    ["minItems", "maxItems"],
    "item",
    (value) => (value as readonly unknown[] | undefined)?.length ?? 0,
  );
  if (ruleValue(rules, "unique") !== true) return checks;
  return [...checks, checkUnique];
}

function checkUnique(value: unknown, problems: ProblemList): void {
  const seen = new Set<unknown>();
  for (const element of (value ?? []) as readonly unknown[]) {
    if (seen.has(element)) {
      problems.warning("PGV_UNIQUE", `expected each item once, got ${problems.describe(element)} again`);
      return;
    }
    seen.add(element);
  }
}

function pairChecks(rules: RuleValues): readonly ValueCheck[] {
  return sizeChecks(rules, ["minPairs", "maxPairs"], "entry", (value) => Object.keys((value ?? {}) as object).length);
}

function sizeChecks(
  rules: RuleValues,
  [minRule, maxRule]: readonly [string, string],
  unit: "item" | "entry",
  sizeOf: (value: unknown) => number,
): readonly ValueCheck[] {
  const min = ruleCount(rules, minRule);
  const max = ruleCount(rules, maxRule);
  const checks: ValueCheck[] = [];
  const format = (size: number): string =>
    unit === "item" ? count(size, unit) : `${size} ${size === 1 ? "entry" : "entries"}`;
  if (min !== undefined) {
    checks.push((value, problems) => {
      const size = sizeOf(value);
      const code = unit === "item" ? "PGV_MIN_ITEMS" : "PGV_MIN_PAIRS";
      if (size < min) problems.warning(code, `expected at least ${format(min)}, got ${size}`);
    });
  }
  if (max !== undefined) {
    checks.push((value, problems) => {
      const size = sizeOf(value);
      const code = unit === "item" ? "PGV_MAX_ITEMS" : "PGV_MAX_PAIRS";
      if (size > max) problems.warning(code, `expected at most ${format(max)}, got ${size}`);
    });
  }
  return checks;
}

function anyChecks(rules: RuleValues): readonly ValueCheck[] {
  const allowed = ruleList(rules, "in");
  const forbidden = ruleList(rules, "notIn");
  const typeOf = (value: unknown): string => (value as { typeUrl: string }).typeUrl;
  const checks: ValueCheck[] = [];
  if (allowed !== undefined) {
    checks.push((value, problems) => {
      if (!allowed.includes(typeOf(value)))
        problems.warning("PGV_IN", `expected one of ${allowed.join(", ")}, got ${typeOf(value)}`);
    });
  }
  if (forbidden !== undefined) {
    checks.push((value, problems) => {
      if (forbidden.includes(typeOf(value)))
        problems.warning("PGV_NOT_IN", `expected none of ${forbidden.join(", ")}, got ${typeOf(value)}`);
    });
  }
  return checks;
}

/** Whether an unset value is validated: a scalar without presence has its default value then. */
export function isCheckedWhenUnset(field: DescField): boolean {
  if (field.fieldKind === "list" || field.fieldKind === "map") return true;
  const IMPLICIT_PRESENCE = 2;
  return field.fieldKind !== "message" && field.oneof === undefined && field.presence === IMPLICIT_PRESENCE;
}

/** Whether a message in the field is a plain value (a duration, a wrapper) with nothing nested to validate. */
export function isPlainValue(field: DescField): boolean {
  const representation = field.message === undefined ? undefined : representationOf(field.message);
  return representation !== "fields" && representation !== "any";
}
