import { type DescField, getOption, type Registry } from "@bufbuild/protobuf";
import { type RuleValues, ruleCount, ruleValue } from "../validation/value-check.ts";

interface PresenceRules {
  readonly message?: RuleValues;
  readonly type: { readonly case: string | undefined; readonly value?: RuleValues };
}

/** Whether a descriptor rule (PGV) requires a field: explicitly, or by a minimum length above 0. */
export function demandsPresence(field: DescField, registry: Registry): boolean {
  const extension = registry.getExtension("validate.rules");
  if (extension === undefined || field.oneof !== undefined) return false;
  const { message, type } = getOption(field, extension) as unknown as PresenceRules;
  const rules = type.value ?? {};
  if (field.fieldKind === "message") {
    return ruleValue(message ?? {}, "required") === true || ruleValue(rules, "required") === true;
  }
  return ["minLen", "minBytes", "minItems", "minPairs"].some((name) => (ruleCount(rules, name) ?? 0) > 0);
}
