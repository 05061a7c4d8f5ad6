import type { ValuePath } from "@xdskit/protocol/internal";
import type { Place } from "../problem.ts";
import type { DocumentPlace } from "./document-place.ts";

/** A position and its line, unless the line may contain a secret. */
export interface ShownPlace extends Place {
  readonly excerpt?: string;
}

/** A text in which the values of its documents can be found, or values that have no text: those have no lines either. */
export interface PlacedText {
  /** The place of a key or value, or of the nearest thing above it that is found. */
  show(place: DocumentPlace): Partial<ShownPlace>;
  /** The place of a text somewhere inside a value, and its path; of the value itself if it is not there. */
  showText(place: DocumentPlace, wanted: string): Partial<ShownPlace> & { readonly path: ValuePath };
}
