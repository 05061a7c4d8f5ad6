import type { DeliveryTimes } from "../observe/deliveries.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Describer } from "./describe.ts";
import type { Query } from "./query.ts";
import type { AdminView } from "./view.ts";

/** The data that routes read. */
export interface AdminSources {
  readonly view: AdminView;
  readonly deliveries: DeliveryTimes;
  readonly metrics: Metrics;
  readonly describe: Describer;
  /** Who asks, for the record of a change. */
  readonly author: string;
}

/** A route of the admin API. */
export interface Route {
  /**
   * A route that changes something is for operators.
   * @default "GET"
   */
  readonly method?: "POST";
  readonly path: string;
  /** Description in the index. */
  readonly says: string;
  /** Accepted parameters with their descriptions. Any other is an error. */
  readonly parameters: Readonly<Record<string, string>>;
  answer(sources: AdminSources, query: Query): AdminAnswer | Promise<AdminAnswer>;
}

export type AdminAnswer =
  | { readonly kind: "text"; readonly status?: number; readonly contentType?: string; readonly text: string }
  | { readonly kind: "json"; readonly status?: number; readonly value: unknown }
  | PageAnswer;

/** A list that may be long; it is built and sent step by step. */
export interface PageAnswer {
  readonly kind: "page";
  /** Iterated once, over many turns of the event loop. */
  readonly steps: Iterable<Step>;
  readonly offset: number;
  readonly limit: number;
}

/** A function that builds an item; undefined is work without an item, after which a pause is possible. */
export type Step<T = unknown> = (() => T) | undefined;

/** The parameters of every list. */
export const pageParameters: Readonly<Record<string, string>> = {
  limit: "maximum number of items",
  offset: "number of items to skip; `next` of the previous page",
};

/** The requested page of a list. */
export function page(query: Query, steps: Iterable<Step>): PageAnswer {
  return {
    kind: "page",
    steps,
    offset: query.count("offset") ?? 0,
    limit: query.count("limit") ?? Number.POSITIVE_INFINITY,
  };
}
