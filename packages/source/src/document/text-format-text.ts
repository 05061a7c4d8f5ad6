import type { ValuePath } from "@xdskit/protocol/internal";
import type { DocumentPlace } from "./document-place.ts";
import type { PlacedText, ShownPlace } from "./placed-text.ts";
import { leadsToSecret, mayHoldSecret, mentionsSecrets } from "./secrecy.ts";
import { findInTextFormat } from "./text-format-places.ts";
import { TextPosition } from "./text-position.ts";

/** A valid text in protobuf's text format, as one document. */
export class TextFormatText implements PlacedText {
  readonly #text: string;
  readonly #position: TextPosition;
  #mentionsSecrets: boolean | undefined;

  constructor(text: string) {
    this.#text = text;
    this.#position = new TextPosition(text);
  }

  show({ path }: DocumentPlace): ShownPlace {
    return this.#showOffset(findInTextFormat(this.#text, path), path);
  }

  /** Finds only a text written as a single string without escapes. */
  showText({ path }: DocumentPlace, wanted: string): ShownPlace & { readonly path: ValuePath } {
    const from = findInTextFormat(this.#text, path);
    const at = this.#text.indexOf(`"${wanted}"`, from);
    return { ...this.#showOffset(at === -1 ? from : at, path), path };
  }

  #showOffset(offset: number, path: ValuePath): ShownPlace {
    const place = this.#position.placeOf(offset);
    // The type that a line belongs to is unknown here.
    this.#mentionsSecrets ??= mentionsSecrets(this.#text);
    const isSecret = this.#mentionsSecrets || leadsToSecret(path) || this.#position.isOfLine(place.line, mayHoldSecret);
    return isSecret ? place : { ...place, excerpt: this.#position.excerptOf(place) };
  }
}
