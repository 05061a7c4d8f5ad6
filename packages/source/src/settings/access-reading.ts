import type { AccessRule, AccessRules } from "@xdskit/protocol";
import type { ValuePath } from "@xdskit/protocol/internal";
import { compileAccess, findIdleRules, formatPath } from "@xdskit/protocol/internal";
import { isMapping } from "../document/places.ts";
import type { SettingsNotes } from "./settings-notes.ts";

const LISTS = ["identities", "entryPoints", "nodes", "clusters", "layers", "types", "names"] as const;
const RULE_FIELDS: readonly string[] = ["name", ...LISTS, "metadata", "deny"];

/** Reads `access` of `xdskit.yaml`. Without usable rules nothing is allowed but what loopback may have. */
export function readAccess(notes: SettingsNotes, access: unknown): AccessRules {
  if (!isMapping(access)) {
    notes.wrongType(["access"], "a mapping with rules", access);
    return { rules: [] };
  }
  notes.refuseOthers(access, ["access"], ["loopback", "rules"]);
  const { loopback, rules = [] } = access as Partial<Record<string, unknown>>;
  if (loopback !== undefined && loopback !== "trusted" && loopback !== "rules")
    notes.wrongType(["access", "loopback"], "trusted or rules", loopback);
  if (!Array.isArray(rules)) {
    notes.wrongType(["access", "rules"], "a list of rules", rules);
    return { rules: [] };
  }
  const before = notes.problems.length;
  const read: AccessRules = {
    ...((loopback === "trusted" || loopback === "rules") && { loopback }),
    rules: rules.map((rule: unknown, index) => readRule(notes, rule, ["access", "rules", index])),
  };
  noteMistakes(notes, read, new Set(notes.problems.slice(before).map(({ path }) => path)));
  return read;
}

function readRule(notes: SettingsNotes, rule: unknown, path: ValuePath): AccessRule {
  if (!isMapping(rule)) {
    notes.wrongType(path, "a rule with identities", rule);
    return { identities: [] };
  }
  notes.refuseOthers(rule, path, RULE_FIELDS);
  const { name, metadata, deny } = rule as Partial<Record<string, unknown>>;
  if (name !== undefined && !isText(name)) notes.wrongType([...path, "name"], "a name", name);
  if (deny !== undefined && typeof deny !== "boolean") notes.wrongType([...path, "deny"], "true or false", deny);
  const isMetadata = isMapping(metadata) && Object.values(metadata).every(isText);
  if (metadata !== undefined && !isMetadata)
    notes.wrongType([...path, "metadata"], "a mapping of fields to patterns", metadata);
  const lists = LISTS.flatMap((key) => {
    const list = (rule as Partial<Record<string, unknown>>)[key];
    if (list === undefined && key !== "identities") return [];
    if (Array.isArray(list) && list.length > 0 && list.every(isText)) return [[key, list] as const];
    notes.wrongType([...path, key], "a list of at least one text", list);
    return [];
  });
  return {
    identities: [],
    ...Object.fromEntries(lists),
    ...(isText(name) && { name }),
    ...(isMetadata && { metadata: metadata as Readonly<Record<string, string>> }),
    ...(deny === true && { deny }),
  };
}

/** Notes what the rules themselves get wrong, where `noted` has nothing yet. Rules that are read in part are not called idle. */
function noteMistakes(notes: SettingsNotes, rules: AccessRules, noted: ReadonlySet<string | undefined>): void {
  const policy = compileAccess(rules, { isSecret: () => false });
  if ("problems" in policy) {
    for (const { path, message } of policy.problems) {
      const place: ValuePath = ["access", ...path];
      if (!noted.has(formatPath(place))) notes.note("SETTING_INVALID", place, "value", message);
    }
    return;
  }
  if (noted.size > 0) return;
  for (const { index, message } of findIdleRules(rules))
    notes.warn("ACCESS_RULE_IDLE", ["access", "rules", index], "value", message, "remove the rule, or change it");
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
