import type {
  ConversionAnswer,
  ConversionsAnswer,
  GraphAnswer,
  GraphNodeAnswer,
  HolderAnswer,
  HoldersAnswer,
  NodeResourceAnswer,
  NodeResourcesAnswer,
  ResourceAnswer,
  ResourcesAnswer,
} from "../answers/resources.ts";
import { errorDetail, page, typed } from "./page.ts";
import { anything, choice, count, list, named, object, optional, type SchemaOf, text, truth, yes } from "./schema.ts";

export const resourcesAnswer: SchemaOf<ResourcesAnswer> = page(
  "Resources",
  named(
    "Resource",
    object<ResourceAnswer>({
      ...typed,
      name: text,
      constraints: optional(text),
      version: text,
      layer: text,
      bytes: count,
      aliases: optional(list(text)),
      ttlMs: optional(count),
      onDemand: optional(truth),
      references: list(object<ResourceAnswer["references"][number]>({ type: text, name: text })),
      error: optional(errorDetail),
      body: optional(anything),
      problem: optional(text),
    }),
  ),
);

export const nodeResourcesAnswer: SchemaOf<NodeResourcesAnswer> = page(
  "NodeResources",
  named(
    "NodeResource",
    object<NodeResourceAnswer>({
      ...typed,
      name: text,
      stream: count,
      status: choice("acked", "pending", "nacked", "not-sent", "does-not-exist", "received-error", "unknown"),
      version: optional(text),
      reason: optional(text),
      body: optional(anything),
      problem: optional(text),
    }),
  ),
);

export const holdersAnswer: SchemaOf<HoldersAnswer> = page(
  "Holders",
  named(
    "Holder",
    object<HolderAnswer>({
      node: text,
      status: choice(
        "acked",
        "pending",
        "nacked",
        "not-sent",
        "does-not-exist",
        "received-error",
        "unknown",
        "not-subscribed",
      ),
      version: optional(text),
      error: optional(errorDetail),
    }),
  ),
);

export const graphAnswer: SchemaOf<GraphAnswer> = named(
  "Graph",
  object<GraphAnswer>({
    nodes: list(object<GraphNodeAnswer>({ ...typed, name: text, layer: optional(text), missing: optional(yes) })),
    edges: list(object<GraphAnswer["edges"][number]>({ from: count, to: count })),
    isCut: optional(yes),
  }),
);

export const conversionsAnswer: SchemaOf<ConversionsAnswer> = page(
  "Conversions",
  named(
    "Conversion",
    object<ConversionAnswer>({
      ...typed,
      name: text,
      layer: text,
      findings: list(object<ConversionAnswer["findings"][number]>({ path: text, message: text })),
    }),
  ),
);
