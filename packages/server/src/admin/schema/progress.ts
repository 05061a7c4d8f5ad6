import type {
  LostNodeAnswer,
  NamedPlaceAnswer,
  ProgressAnswer,
  StragglerAnswer,
  StragglersAnswer,
} from "../answers/progress.ts";
import { wait } from "./deliveries.ts";
import { identity } from "./nodes.ts";
import { typed, unresponsiveWorkers } from "./page.ts";
import { choice, count, list, named, object, optional, type SchemaOf, text } from "./schema.ts";

const stragglers: SchemaOf<StragglersAnswer> = named(
  "Stragglers",
  object<StragglersAnswer>({
    total: count,
    nodes: list(
      object<StragglerAnswer>({
        ...identity,
        types: list(
          object<StragglerAnswer["types"][number]>({
            ...typed,
            state: choice("not-sent", "pending", "removal", "nacked"),
            waits: optional(wait),
            names: optional(list(text)),
            reason: optional(text),
            places: optional(list(object<NamedPlaceAnswer>({ name: text, file: text, line: optional(count) }))),
          }),
        ),
      }),
    ),
  }),
);

export const progressAnswer: SchemaOf<ProgressAnswer> = named(
  "Progress",
  object<ProgressAnswer>({
    revision: count,
    head: count,
    state: choice("deployed", "pending", "nacked", "too-few-nodes"),
    nodes: count,
    deployed: count,
    pending: stragglers,
    nacked: stragglers,
    disconnected: object<ProgressAnswer["disconnected"]>({
      total: count,
      nodes: list(object<LostNodeAnswer>({ id: text, reached: optional(count) })),
    }),
    unresponsiveWorkers: optional(unresponsiveWorkers),
  }),
);
