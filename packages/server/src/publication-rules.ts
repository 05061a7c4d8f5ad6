import {
  aFlag,
  aList,
  aName,
  anObject,
  aText,
  at,
  fields,
  listOf,
  mistake,
  type OptionProblem,
  optional,
  type Placement,
  type PublishOrigin,
  type Rule,
  type RulesOf,
  rule,
} from "@xdskit/protocol/internal";
import type { Authorship, Publication, PublishedChange, RollbackOptions, SourceReading } from "./ledger/publication.ts";
import { aLayer, deletions, resources } from "./transaction-rules.ts";

const aTime: Rule = rule("a date", (value) => value instanceof Date);
const ofReading: RulesOf<SourceReading> = { noticedAt: aTime, beganAt: aTime, endedAt: aTime };
const ofChange: RulesOf<PublishedChange> = { layer: aLayer, puts: resources, deletes: deletions };
const ofOrigin: RulesOf<PublishOrigin> = {
  writer: aName,
  digest: aText,
  git: fields({ commit: aText, isDirty: aFlag }, { needed: ["commit", "isDirty"] }),
};
const ofPlacement: RulesOf<Placement> = { groups: aList, clients: aList, access: anObject };

const layers: Rule = (value) => {
  if (!(value instanceof Map)) return rule("a Map of lists of resources by layer", () => false)(value);
  const problems: OptionProblem[] = [];
  for (const [layer, held] of value) {
    if (aLayer(layer).length > 0) problems.push(mistake("", "expected names of layers as the keys"));
    else problems.push(...at(`[${JSON.stringify(layer)}]`, resources(held)));
  }
  return problems;
};

const ofPublication: RulesOf<Publication> = {
  author: aText,
  message: aText,
  layers,
  changes: listOf(fields(ofChange, { needed: ["layer"] })),
  placement: fields(ofPlacement, { needed: ["groups", "clients"] }),
  origin: fields(ofOrigin, { needed: ["writer"] }),
  reading: fields(ofReading),
};

const ofAuthor: RulesOf<Authorship> = { author: aText, message: aText };
const ofRollback: RulesOf<RollbackOptions> = { ...ofAuthor, isForced: aFlag };
const aNumber: Rule = rule("the number of a record", (value) => Number.isSafeInteger(value));

/** The arguments of `approve` and `reject`. */
export const ofDecision: readonly (readonly [string, Rule])[] = [
  ["number", aNumber],
  ["by", optional(fields(ofAuthor))],
];

/** The arguments of `rollback`. */
export const ofRollbackTo: readonly (readonly [string, Rule])[] = [
  ["to", aNumber],
  ["options", optional(fields(ofRollback))],
];

/** The argument of `publish`. Not every field of every resource is checked, as in a transaction. */
export const aPublication: Rule = fields(ofPublication, { needed: ["origin"] });
