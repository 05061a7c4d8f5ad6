import type { DeliveryTimes } from "../observe/deliveries.ts";
import type { Metrics } from "../observe/metrics.ts";
import type { AdminRole } from "./access.ts";
import type { Describer } from "./describe.ts";
import type { EventFeed } from "./live/event-feed.ts";
import type { Samples } from "./live/samples.ts";
import type { Merge } from "./merge/merge.ts";
import type { Query } from "./query.ts";
import type { AnswerSchema } from "./schema/schema.ts";
import type { AdminView } from "./view.ts";

/** The data that routes read. */
export interface AdminSources {
  readonly view: AdminView;
  readonly deliveries: DeliveryTimes;
  readonly metrics: Metrics;
  readonly describe: Describer;
  /** Every route. */
  readonly routes: readonly Route[];
  readonly feed: EventFeed;
  readonly samples: Samples;
  /** Who asks, for the record of a change. */
  readonly author: string;
  /** Undefined: an access rule lets the caller in without a role. */
  readonly role: AdminRole | undefined;
  /** Whether the caller may change something. */
  mayChange(): boolean;
  /** Aborted when the caller waits no more; undefined: another process asks for it. */
  readonly left: AbortSignal | undefined;
}

/** The data that is the same for every caller. */
export type SharedSources = Omit<AdminSources, "author" | "role" | "mayChange" | "left">;

/** What a parameter takes: a whole number, true or false, any number of texts, or one of these words. */
export type ParameterKind = "count" | "flag" | "texts" | readonly string[];

/** A route of the admin API. */
export interface Route {
  /**
   * A route that changes something is for operators.
   * @default "GET"
   */
  readonly method?: "POST";
  /** A POST route that changes nothing: it is for viewers too. */
  readonly isRead?: true;
  readonly path: string;
  /** Description in the index. */
  readonly says: string;
  /** Accepted parameters with their descriptions. Any other is an error. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Parameters that are not any text. */
  readonly kinds?: Readonly<Record<string, ParameterKind>>;
  /** The schemas of its JSON answers, by status. */
  readonly answers?: Readonly<Record<number, AnswerSchema>>;
  /** The media type of an answer that is text. */
  readonly textType?: string;
  /** Where worker processes serve the clients: makes one answer of those of all processes. Absent: this one answers. */
  readonly merge?: Merge;
  /** `body`: of the request; what is not read of it is dropped. */
  answer(sources: AdminSources, query: Query, body: AsyncIterable<Uint8Array>): AdminAnswer | Promise<AdminAnswer>;
}

export type AdminAnswer =
  | { readonly kind: "text"; readonly status?: number; readonly contentType?: string; readonly text: string }
  | JsonAnswer
  | { readonly kind: "events"; readonly feed: EventFeed }
  | { readonly kind: "redirect"; readonly to: string }
  | FileAnswer
  | PageAnswer;

/** A value that is written as JSON. */
export interface JsonAnswer {
  readonly kind: "json";
  readonly status?: number;
  readonly value: unknown;
}

/** A file of the console. */
export interface FileAnswer {
  readonly kind: "file";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The body in gzip. */
  readonly compressed: Uint8Array;
}

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

export const pageKinds: Readonly<Record<string, ParameterKind>> = { limit: "count", offset: "count" };

/** The requested page of a list. */
export function page(query: Query, steps: Iterable<Step>): PageAnswer {
  return {
    kind: "page",
    steps,
    offset: query.count("offset") ?? 0,
    limit: query.count("limit") ?? Number.POSITIVE_INFINITY,
  };
}
