import type { AccessRule, AccessRules } from "@xdskit/protocol";
import {
  aFlag,
  aListOfTexts,
  aText,
  fields,
  isObject,
  listOf,
  oneOf,
  type Rule,
  type RulesOf,
  rule,
} from "@xdskit/protocol/internal";

const texts: Rule = (value) =>
  fields(isObject(value) ? Object.fromEntries(Object.keys(value).map((name) => [name, aText])) : {})(value);

const ofRule: RulesOf<AccessRule> = {
  name: aText,
  identities: aListOfTexts,
  entryPoints: aListOfTexts,
  nodes: aListOfTexts,
  clusters: aListOfTexts,
  metadata: texts,
  layers: aListOfTexts,
  types: aListOfTexts,
  names: aListOfTexts,
  deny: aFlag,
};
const ofAccess: RulesOf<AccessRules> = {
  loopback: oneOf("trusted", "rules"),
  rules: listOf(fields(ofRule, { needed: ["identities"] })),
};
const rules: Rule = fields(ofAccess, { needed: ["rules"] });

/** Access rules, or a function. What the rules mean is checked where they are compiled. */
export const anAccess: Rule = (value) =>
  isObject(value) ? rules(value) : rule("a function or an object", (one) => typeof one === "function")(value);

/** Access of a commit, which can also restore the defaults. */
export const accessOfCommit: Rule = (value) =>
  isObject(value)
    ? rules(value)
    : rule('"default", { rules: [...] } or a function', (one) => one === "default" || typeof one === "function")(value);
