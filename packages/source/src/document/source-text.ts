import type { ValuePath } from "@xdskit/protocol/internal";
import type { FileFormat } from "../layout.ts";
import { readBlockYaml } from "./block-yaml.ts";
import { namingConflicts } from "./conflict-markers.ts";
import type { DocumentPlace } from "./document-place.ts";
import { type ItemExtent, type ItemMemory, knownExtent } from "./item-memory.ts";
import { readJson } from "./json.ts";
import type { ParsedDocument, ParsedText, TextReader } from "./parsed-text.ts";
import type { PlacedText, ShownPlace } from "./placed-text.ts";
import { entryOf, isMapping, Places } from "./places.ts";
import { leadsToSecret, mayHoldSecret, mentionsSecrets } from "./secrecy.ts";
import { TextPosition } from "./text-position.ts";
import { readYaml } from "./yaml.ts";

const READERS: Readonly<Record<"yaml" | "json", TextReader>> = { yaml: readYaml, json: readJson };

/** A value, where it stands, and a path from it. */
interface Located {
  readonly root: unknown;
  readonly at: number;
  readonly places: Places;
  readonly path: ValuePath;
}

interface LocatedItem extends Omit<Located, "path"> {
  readonly begin: number;
}

/** The text of a YAML or JSON file, its content and positions. */
export class SourceText implements PlacedText {
  readonly parsed: ParsedText;
  readonly #text: string;
  readonly #format: "yaml" | "json";
  readonly #position: TextPosition;
  readonly #items: ItemMemory | undefined;
  #mentionsSecrets: boolean | undefined;
  #documents: { readonly documents: readonly ParsedDocument[]; readonly places: Places } | undefined;
  #lastItem: LocatedItem | undefined;

  /**
   * Items known to `items` appear in the documents as stand-ins; others are noted in it, which finds them faster. The
   * content is not read if it is given.
   */
  constructor(text: string, format: Extract<FileFormat, "yaml" | "json">, items?: ItemMemory, parsed?: ParsedText) {
    this.#text = text;
    this.#format = format;
    this.#position = new TextPosition(text);
    this.#items = items;
    this.parsed = parsed ?? namingConflicts(text, READERS[format](text, undefined, items));
  }

  /** The position of an offset. Shows the line only if the whole text contains nothing like a secret. */
  showOffset(offset: number): ShownPlace {
    const place = this.#position.placeOf(offset);
    this.#mentionsSecrets ??= mentionsSecrets(this.#text);
    return this.#mentionsSecrets ? place : { ...place, excerpt: this.#position.excerptOf(place) };
  }

  show({ document, path, part }: DocumentPlace): ShownPlace {
    const { root, at, places, path: inner } = this.#locateItem(document, path) ?? this.#locate(document, path);
    const place = this.#position.placeOf(places.find(root, at, inner, part));
    const whole = this.parsed.documents[document]?.value;
    if (isInSecret(whole, path) || isInSecret(root, inner) || path.includes("secrets")) return place;
    if (leadsToSecret(path) || this.#position.isOfLine(place.line, mayHoldSecret)) return place;
    return { ...place, excerpt: this.#position.excerptOf(place) };
  }

  showText(place: DocumentPlace, wanted: string): ShownPlace & { readonly path: ValuePath } {
    let value = this.parsed.documents[place.document]?.value;
    for (const step of place.path) value = stepInto(value, step);
    const path = findText(value, wanted, place.path) ?? place.path;
    return { ...this.show({ ...place, path }), path };
  }

  /** Reads the text again with positions: most files never need them. */
  #locate(document: number, path: ValuePath): Located {
    if (this.#documents === undefined) {
      const places = new Places();
      this.#documents = { documents: READERS[this.#format](this.#text, places).documents, places };
    }
    const { documents, places } = this.#documents;
    return { root: documents[document]?.value, at: documents[document]?.offset ?? 0, places, path };
  }

  /**
   * Reads only the list item again that the path leads into: the positions of 100,000 items take seconds and gigabytes.
   * Undefined if the path leads into none whose place is known.
   */
  #locateItem(document: number, path: ValuePath): Located | undefined {
    const depth = path[0] === "resources" ? 2 : 1;
    let item = this.parsed.documents[document]?.value;
    for (const step of path.slice(0, depth)) item = stepInto(item, step);
    const extent = path.length < depth ? undefined : (this.#items?.extentOf(item) ?? knownExtent(item));
    if (extent === undefined) return undefined;
    const inner = path.slice(depth);
    if (this.#lastItem?.begin !== extent.begin) this.#lastItem = this.#readItem(extent);
    return this.#lastItem && { ...this.#lastItem, path: this.#format === "yaml" ? [0, ...inner] : inner };
  }

  /** An item of YAML is read with its indentation, as a list of one. */
  #readItem({ begin, end, level }: ItemExtent): LocatedItem | undefined {
    const places = new Places(this.#format === "yaml" ? begin - level : begin);
    const text = this.#text.slice(places.base, end);
    const { documents } = this.#format === "yaml" ? readBlockYaml(text, places) : readJson(text, places);
    const [document] = documents ?? [];
    return document && { begin, root: document.value, at: places.base + document.offset, places };
  }
}

/** Whether a field is part of a Secret; those are not shown. */
function isInSecret(root: unknown, path: ValuePath): boolean {
  let value = root;
  for (const step of [...path, ""]) {
    const type = entryOf(value, "@type");
    if (typeof type === "string" && /\.(?:Secret|GenericSecret|TlsCertificate)$/.test(type)) return true;
    value = stepInto(value, step);
  }
  return false;
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

function stepInto(value: unknown, step: string | number): unknown {
  if (typeof step === "string") return entryOf(value, step);
  return Array.isArray(value) ? (value as readonly unknown[])[step] : undefined;
}
