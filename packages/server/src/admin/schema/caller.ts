import type { CallerAnswer } from "../answers/caller.ts";
import { choice, named, object, optional, type SchemaOf, text, truth } from "./schema.ts";

export const callerAnswer: SchemaOf<CallerAnswer> = named(
  "Caller",
  object<CallerAnswer>({ name: text, role: optional(choice("viewer", "operator")), mayChange: truth }),
);
