import type { ValuePath } from "@xdskit/protocol/internal";
import type { Part } from "./places.ts";

/** A path in a document of the text. */
export interface DocumentPlace {
  readonly document: number;
  readonly path: ValuePath;
  readonly part: Part;
}
