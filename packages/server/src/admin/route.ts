import type { DeliveryTimes } from "../observe/deliveries.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { Describer } from "./describe.ts";
import type { Query } from "./query.ts";
import type { AdminView } from "./view.ts";

/** What the routes answer from. */
export interface AdminSources {
  readonly view: AdminView;
  readonly deliveries: DeliveryTimes;
  readonly metrics: Metrics;
  readonly describe: Describer;
}

/** One thing that can be asked of the admin API. */
export interface Route {
  readonly path: string;
  /** One line for the index. */
  readonly says: string;
  /** The parameters that it takes, and what each is for. Any other is a mistake of the caller. */
  readonly parameters: Readonly<Record<string, string>>;
  answer(sources: AdminSources, query: Query): AdminAnswer | Promise<AdminAnswer>;
}

export type AdminAnswer =
  | { readonly kind: "text"; readonly status?: number; readonly contentType?: string; readonly text: string }
  | { readonly kind: "json"; readonly status?: number; readonly value: unknown }
  | PageAnswer;

/** A list that may be long: it is made and sent bit by bit. */
export interface PageAnswer {
  readonly kind: "page";
  /** Walked once, over many turns of the event loop. */
  readonly steps: Iterable<Step>;
  readonly offset: number;
  readonly limit: number;
}

/** An item, made when it is needed; or work that made none, after which there may be a pause. */
export type Step<T = unknown> = (() => T) | undefined;

/** The parameters that every list takes. */
export const pageParameters: Readonly<Record<string, string>> = {
  limit: "at most so many items",
  offset: "leave out so many items (see `next` in the answer)",
};

/** The page of a list that the caller asked for. */
export function page(query: Query, steps: Iterable<Step>): PageAnswer {
  return {
    kind: "page",
    steps,
    offset: query.count("offset") ?? 0,
    limit: query.count("limit") ?? Number.POSITIVE_INFINITY,
  };
}
