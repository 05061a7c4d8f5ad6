import type { ErrorAnswer, ErrorDetailAnswer, Page } from "../answers/page.ts";
import { count, list, type Members, named, object, optional, type SchemaOf, text } from "./schema.ts";

/** Of an answer for the clients of all workers. */
export const unresponsiveWorkers: SchemaOf<readonly number[]> = list(count);

export function page<T>(name: string, item: SchemaOf<T>): SchemaOf<Page<T>> {
  return named(
    name,
    object<Page<T>>({
      items: list(item),
      total: count,
      next: optional(count),
      unresponsiveWorkers: optional(unresponsiveWorkers),
    }),
  );
}

/** The members that every object with a type has. */
export const typed: Members<{ readonly type: string; readonly shortName?: string }> = {
  type: text,
  shortName: optional(text),
};

export const errorAnswer: SchemaOf<ErrorAnswer> = named(
  "Error",
  object<ErrorAnswer>({ error: text, hint: optional(text) }),
);

export const errorDetail: SchemaOf<ErrorDetailAnswer> = named(
  "ErrorDetail",
  object<ErrorDetailAnswer>({ code: count, message: text }),
);
