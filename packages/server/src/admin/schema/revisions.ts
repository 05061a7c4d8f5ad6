import type {
  ChangeAnswer,
  ContentAnswer,
  DecisionAnswer,
  DifferenceAnswer,
  FuseAnswer,
  NodeHistoryAnswer,
  NodePastAnswer,
  NodeRejectionAnswer,
  PlanAnswer,
  PlanCountAnswer,
  PlanNodeAnswer,
  PlanNodesAnswer,
  RevisionAnswer,
  RevisionDetailAnswer,
  RevisionsAnswer,
} from "../answers/revisions.ts";
import { typed } from "./page.ts";
import { anything, choice, count, list, named, object, optional, type SchemaOf, text, time, truth } from "./schema.ts";

const fuse: SchemaOf<FuseAnswer> = named(
  "Fuse",
  object<FuseAnswer>({ fuse: text, layer: optional(text), type: optional(text), message: text }),
);

const ledgerRecord = {
  number: count,
  kind: text,
  time,
  author: optional(text),
  message: optional(text),
  writer: optional(text),
  git: optional(object<NonNullable<RevisionAnswer["git"]>>({ commit: text, isDirty: truth })),
  of: optional(count),
  to: optional(count),
  added: count,
  changed: count,
  deleted: count,
  placement: truth,
  fuses: optional(list(fuse)),
};

export const revision: SchemaOf<RevisionAnswer> = named("Revision", object<RevisionAnswer>(ledgerRecord));

export const revisionsAnswer: SchemaOf<RevisionsAnswer> = named(
  "Revisions",
  object<RevisionsAnswer>({ items: list(revision), head: count, next: optional(count) }),
);

const content = optional(named("Content", object<ContentAnswer>({ version: text, body: optional(anything) })));

const change: SchemaOf<ChangeAnswer> = named(
  "Change",
  object<ChangeAnswer>({
    change: choice("added", "changed", "deleted"),
    layer: text,
    ...typed,
    name: text,
    before: content,
    after: content,
  }),
);

const changes = { changes: list(change), total: count, next: optional(count) };

export const revisionAnswer: SchemaOf<RevisionDetailAnswer> = named(
  "RevisionDetail",
  object<RevisionDetailAnswer>({ ...ledgerRecord, ...changes, decisions: list(revision) }),
);

export const differenceAnswer: SchemaOf<DifferenceAnswer> = named(
  "Difference",
  object<DifferenceAnswer>({ from: count, to: count, ...changes }),
);

type MissingPlace = NonNullable<DecisionAnswer["irretrievable"]>[number];

const irretrievable = optional(list(object<MissingPlace>({ layer: text, type: text, name: text })));

export const planAnswer: SchemaOf<PlanAnswer> = named(
  "Plan",
  object<PlanAnswer>({
    result: choice("unchanged", "applied", "held", "rejected", "refused"),
    head: count,
    reason: optional(text),
    fuses: optional(list(fuse)),
    placement: truth,
    irretrievable,
    counts: list(
      object<PlanCountAnswer>({
        layer: text,
        ...typed,
        ...{ isLive: truth, added: count, changed: count, deleted: count },
      }),
    ),
    nodes: object<PlanNodesAnswer>({
      connected: count,
      affected: count,
      moved: count,
      cutOff: count,
      named: list(object<PlanNodeAnswer>({ id: text, becomes: choice("resources", "layers", "refused", "cut-off") })),
    }),
    ...changes,
  }),
);

export const nodeHistoryAnswer: SchemaOf<NodeHistoryAnswer> = named(
  "NodeHistory",
  object<NodeHistoryAnswer>({
    node: text,
    items: list(
      object<NodePastAnswer>({
        number: count,
        time,
        nacked: optional(object<NodeRejectionAnswer>({ ...typed, reason: text })),
        revision: optional(revision),
      }),
    ),
    total: count,
    next: optional(count),
  }),
);

export const decisionAnswer: SchemaOf<DecisionAnswer> = named(
  "Decision",
  object<DecisionAnswer>({
    result: text,
    number: optional(count),
    reason: optional(text),
    fuses: optional(list(fuse)),
    irretrievable,
  }),
);
