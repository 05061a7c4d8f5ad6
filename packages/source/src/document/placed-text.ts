import type { Place, ValuePath } from "../problem.ts";
import type { DocumentPlace } from "./parsed-text.ts";

/** A position and its line, unless the line may contain a secret. */
export interface ShownPlace extends Place {
  readonly excerpt?: string;
}

/** A text whose values can be located. */
export interface PlacedText {
  /** The position of a key or value, or of its nearest ancestor that is found. */
  show(place: DocumentPlace): ShownPlace;
  /** The position and path of a text inside a value; of the value itself if the text is not found. */
  showText(place: DocumentPlace, wanted: string): ShownPlace & { readonly path: ValuePath };
}
