import type { AccessRules, EntryPoint } from "@xdskit/protocol";
import { entryPoints } from "@xdskit/protocol/internal";
import type { AccessAnswer, AccessClientAnswer, AccessRulesAnswer } from "../answers/access.ts";
import type { Page } from "../answers/page.ts";
import { page } from "./page.ts";
import { choice, count, list, named, object, optional, record, type SchemaOf, text, truth } from "./schema.ts";

const entryPoint: SchemaOf<EntryPoint> = choice(...entryPoints);

export const accessAnswer: SchemaOf<AccessAnswer> = named(
  "Access",
  object<AccessAnswer>({
    allowed: truth,
    entry: entryPoint,
    node: optional(text),
    layers: list(text),
    type: optional(text),
    name: optional(text),
    reason: text,
    rule: optional(count),
    misses: optional(list(object<{ readonly rule: number; readonly field: string }>({ rule: count, field: text }))),
  }),
);

const texts = optional(list(text));

export const accessRulesAnswer: SchemaOf<AccessRulesAnswer> = named(
  "AccessRules",
  object<AccessRulesAnswer>({
    kind: choice("default", "insecure", "rules", "function"),
    rules: optional(
      object<AccessRules>({
        loopback: optional(choice("trusted", "rules")),
        rules: list(
          object<AccessRules["rules"][number]>({
            name: optional(text),
            identities: list(text),
            entryPoints: optional(list(entryPoint)),
            nodes: texts,
            clusters: texts,
            metadata: optional(record(text)),
            layers: texts,
            types: texts,
            names: texts,
            deny: optional(truth),
          }),
        ),
      }),
    ),
    clientStatus: choice("off", "loopback", "certificate", "everybody"),
  }),
);

export const accessClientsAnswer: SchemaOf<Page<AccessClientAnswer>> = page(
  "AccessClients",
  named(
    "AccessClient",
    object<AccessClientAnswer>({
      entry: entryPoint,
      peer: text,
      identities: list(text),
      node: text,
      cluster: text,
      metadata: record(text),
      types: list(text),
    }),
  ),
);
