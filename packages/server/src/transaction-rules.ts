import type { LayerChange, Resource, Transaction } from "@xdskit/protocol";
import {
  aList,
  aText,
  fields,
  isObject,
  kindOf,
  listOf,
  mistake,
  type Rule,
  type RulesOf,
  rule,
} from "@xdskit/protocol/internal";

/** A list in which only the first mistake is reported: there may be very many. Contents are not printed: they may be secret. */
function listOfMany(expected: string, isGood: (one: unknown) => boolean): Rule {
  return (list) => {
    if (!Array.isArray(list)) return aList(list);
    const bad = list.findIndex((one) => !isGood(one));
    return bad === -1 ? [] : [mistake(`[${bad}]`, `expected ${expected}, got ${kindOf(list[bad])}`)];
  };
}

const isDeletion = (one: unknown): boolean =>
  isObject(one) && typeof one["type"] === "string" && typeof one["name"] === "string";
const isResource = (one: unknown): boolean => isDeletion(one) && typeof (one as Resource).sum === "bigint";

export const aLayer: Rule = rule("the name of a layer", (value) => typeof value === "string" && value !== "");
export const resources: Rule = listOfMany("a resource as createResource makes it", isResource);
export const deletions: Rule = listOfMany("{ type, name }", isDeletion);

const aMapOfTypes: Rule = rule("a Map by type", (value) => value instanceof Map);

const ofChange: RulesOf<LayerChange> = {
  layer: aLayer,
  puts: resources,
  deletes: deletions,
  typeVersions: aMapOfTypes,
  canaries: aMapOfTypes,
};

/**
 * The parts of a transaction. Not every field of every resource is checked, because there may be very many and
 * `createResource` makes them.
 */
export const ofTransaction: RulesOf<Transaction> = {
  changes: listOf(fields(ofChange, { needed: ["layer"] })),
  systemVersion: aText,
};
