import type { FileFormat } from "../layout.ts";
import type { ValuePath } from "../problem.ts";
import type { ItemMemory } from "./item-memory.ts";
import { readJson } from "./json.ts";
import type { DocumentPlace, ParsedDocument, ParsedText, TextReader } from "./parsed-text.ts";
import type { PlacedText, ShownPlace } from "./placed-text.ts";
import { entryOf, isMapping, Places } from "./places.ts";
import { leadsToSecret, mayHoldSecret, mentionsSecrets } from "./secrecy.ts";
import { TextPosition } from "./text-position.ts";
import { readYaml } from "./yaml.ts";

const READERS: Readonly<Record<"yaml" | "json", TextReader>> = { yaml: readYaml, json: readJson };

/** The text of a YAML or JSON file, its content and positions. */
export class SourceText implements PlacedText {
  readonly parsed: ParsedText;
  readonly #text: string;
  readonly #format: "yaml" | "json";
  readonly #position: TextPosition;
  #mentionsSecrets: boolean | undefined;
  #located: { readonly documents: readonly ParsedDocument[]; readonly places: Places } | undefined;

  /** Items known to `items` appear in the documents as stand-ins. */
  constructor(text: string, format: Extract<FileFormat, "yaml" | "json">, items?: ItemMemory) {
    this.#text = text;
    this.#format = format;
    this.#position = new TextPosition(text);
    this.parsed = READERS[format](text, undefined, items);
  }

  /** The position of an offset. Shows the line only if the whole text contains nothing like a secret. */
  showOffset(offset: number): ShownPlace {
    const place = this.#position.placeOf(offset);
    this.#mentionsSecrets ??= mentionsSecrets(this.#text);
    return this.#mentionsSecrets ? place : { ...place, excerpt: this.#position.excerptOf(place) };
  }

  show({ document, path, part }: DocumentPlace): ShownPlace {
    const { documents, places } = this.#locate();
    const root = documents[document];
    const place = this.#position.placeOf(places.find(root?.value, root?.offset ?? 0, path, part));
    if (this.#isInSecret(root?.value, path)) return place;
    if (leadsToSecret(path) || this.#position.isOfLine(place.line, mayHoldSecret)) return place;
    return { ...place, excerpt: this.#position.excerptOf(place) };
  }

  showText(place: DocumentPlace, wanted: string): ShownPlace & { readonly path: ValuePath } {
    let value = this.#locate().documents[place.document]?.value;
    for (const step of place.path) value = typeof step === "number" ? listItem(value, step) : entryOf(value, step);
    const path = findText(value, wanted, place.path) ?? place.path;
    return { ...this.show({ ...place, path }), path };
  }

  /** Reads the text again with positions: most files never need them. */
  #locate(): { readonly documents: readonly ParsedDocument[]; readonly places: Places } {
    if (this.#located !== undefined) return this.#located;
    const places = new Places();
    this.#located = { documents: READERS[this.#format](this.#text, places).documents, places };
    return this.#located;
  }

  /** No field of a Secret is shown. */
  #isInSecret(root: unknown, path: ValuePath): boolean {
    let value = root;
    for (const step of [...path, ""]) {
      const type = entryOf(value, "@type");
      if (typeof type === "string" && /\.(?:Secret|GenericSecret|TlsCertificate)$/.test(type)) return true;
      value = typeof step === "number" ? listItem(value, step) : entryOf(value, step);
    }
    return path.includes("secrets");
  }
}

/** The path of the first equal string. */
function findText(value: unknown, wanted: string, path: ValuePath): ValuePath | undefined {
  if (value === wanted) return path;
  const entries: Iterable<readonly [string | number, unknown]> = Array.isArray(value)
    ? value.entries()
    : isMapping(value)
      ? Object.entries(value)
      : [];
  for (const [step, inner] of entries) {
    const found = findText(inner, wanted, [...path, step]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function listItem(value: unknown, index: number): unknown {
  return Array.isArray(value) ? (value as readonly unknown[])[index] : undefined;
}
