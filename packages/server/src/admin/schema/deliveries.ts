import type {
  DeliveriesAnswer,
  DeliveryAnswer,
  DeliveryFate,
  NackAnswer,
  ResponseAnswer,
  TypeAnswer,
  WaitAnswer,
} from "../answers/deliveries.ts";
import type { ErrorDetailAnswer } from "../answers/page.ts";
import { page, typed } from "./page.ts";
import { choice, count, list, named, object, optional, type SchemaOf, text, time, truth } from "./schema.ts";

const fate: SchemaOf<DeliveryFate> = choice("acked", "pending", "nacked", "sent", "does-not-exist", "requested");

export const wait: SchemaOf<WaitAnswer> = named(
  "Wait",
  object<WaitAnswer>({
    for: choice("cluster", "endpoints", "secret", "content", "users", "release", "return"),
    name: optional(text),
    resources: optional(list(text)),
    type: optional(text),
    shortName: optional(text),
    nacked: optional(truth),
    since: optional(time),
  }),
);

const ttl = choice("told", "not-announced", "unsafe", "v2");

const response = {
  nonce: text,
  version: text,
  revision: count,
  resources: count,
  removed: count,
  sentAt: optional(time),
};

export const typeAnswer: SchemaOf<TypeAnswer> = named(
  "Type",
  object<TypeAnswer>({
    ...typed,
    stream: count,
    state: fate,
    isWildcard: truth,
    names: count,
    doesNotExist: list(text),
    errors: optional(
      list(object<ErrorDetailAnswer & { readonly name: string }>({ code: count, message: text, name: text })),
    ),
    sentRevision: optional(count),
    sentVersion: optional(text),
    acked: optional(object<ResponseAnswer & { readonly ackedAt?: string }>({ ...response, ackedAt: optional(time) })),
    nacked: optional(
      object<NackAnswer & { readonly nackedAt?: string }>({
        ...response,
        code: count,
        reason: text,
        names: list(text),
        nackedAt: optional(time),
      }),
    ),
    waits: optional(wait),
    pendingRemovals: optional(list(text)),
    ttl: optional(ttl),
    pending: list(named("Response", object<ResponseAnswer>(response))),
  }),
);

export const deliveriesAnswer: SchemaOf<DeliveriesAnswer> = page(
  "Deliveries",
  named(
    "Delivery",
    object<DeliveryAnswer>({
      node: text,
      userAgent: text,
      ...typed,
      stream: count,
      state: fate,
      version: optional(text),
      nonce: optional(text),
      revision: optional(count),
      since: optional(time),
      ackedVersion: optional(text),
      reason: optional(text),
      names: optional(list(text)),
      doesNotExist: optional(list(text)),
      waits: optional(wait),
      pendingRemovals: optional(list(text)),
      ttl: optional(ttl),
    }),
  ),
);
