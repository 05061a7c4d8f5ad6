import { type ClientRule, editions } from "@xdskit/protocol";
import {
  aFunction,
  aName,
  anObject,
  aText,
  fields,
  isObject,
  isTexts,
  listOf,
  listOr,
  oneOf,
  type Rule,
  type RulesOf,
  rule,
  switchFields,
  unchecked,
} from "@xdskit/protocol/internal";

const patterns: Rule = rule("a list of patterns", isTexts);

/** Patterns for a field of the metadata, or for the fields inside it. */
const metadata: Rule = (value) =>
  isObject(value)
    ? fields(Object.fromEntries(Object.keys(value).map((name) => [name, metadata])))(value)
    : patterns(value);

/** A node match. */
const aNodeMatch: Rule = fields({
  id: patterns,
  cluster: patterns,
  userAgentName: patterns,
  locality: fields({ region: patterns, zone: patterns, subZone: patterns }),
  metadata: (value) => (isObject(value) ? metadata : anObject)(value),
});

/** Protocol switches. */
export const aDialect: Rule = fields(Object.fromEntries(switchFields.map((field) => [field, unchecked])), {
  noun: "switch",
});
export const anEdition: Rule = oneOf(...editions);

const ofOverride: RulesOf<ClientRule> = { match: aNodeMatch, name: aText, edition: anEdition, dialect: aDialect };

/** A function, or `{ groups }`. */
export const aNodeMapping: Rule = (value) =>
  typeof value === "function"
    ? aFunction(value)
    : isObject(value)
      ? fields(
          { groups: listOf(fields({ name: aName, match: aNodeMatch }, { needed: ["name", "match"] })) },
          { needed: ["groups"] },
        )(value)
      : rule("a function, or { groups: [...] }", () => false)(value);

/** A function, or a list of overrides. */
export const clientOverrides: Rule = listOr(
  rule("a function, or a list of objects", (value) => typeof value === "function"),
  fields(ofOverride, { needed: ["match"] }),
);
