import { maxNesting, parseYamlTokens, yamlLimits } from "@xdskit/envoy-api/internal";
import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  type Pair,
  Parser,
  type Scalar as ScalarNode,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import { readBlockYaml } from "./block-yaml.ts";
import type { ItemMemory } from "./item-memory.ts";
import { nestingTrouble, type ParsedDocument, type ParsedText, type TextTrouble } from "./parsed-text.ts";
import { type Places, setField } from "./places.ts";
import { jsonInteger, jsonNumber } from "./plain-scalar.ts";
import { mistakesOf, shownKey } from "./yaml-mistakes.ts";

/**
 * Reads YAML 1.2 with the core schema: `no` is a string, and large integers keep their digits (as strings). Supports
 * merge keys (`<<`); rejects custom tags.
 */
export function readYaml(text: string, places?: Places, items?: ItemMemory): ParsedText {
  const { documents, stoppedAt } = readBlockYaml(text, places, items);
  if (documents !== undefined) return { documents, troubles: [] };
  if (text.length <= yamlLimits.unusualCharacters) return readAnyYaml(text, places);
  return { documents: [], troubles: [tooLargeToBeUnusual(stoppedAt)] };
}

/** Reads any YAML, at a tenth of the speed and with 80 bytes of memory per byte of text. */
export function readAnyYaml(text: string, places?: Places): ParsedText {
  const { tokens, tooDeepAt } = parseYamlTokens(text, { lexer: new Lexer(), parser: new Parser() });
  if (tokens === undefined) return { documents: [], troubles: [nestingTrouble(tooDeepAt)] };
  const documents: ParsedDocument[] = [];
  const troubles: TextTrouble[] = [];
  const composer = new Composer({ schema: "core", intAsBigInt: true, resolveKnownTags: false, logLevel: "silent" });
  for (const document of composer.compose(tokens, true, text.length)) {
    const conversion = new Conversion(places);
    const value = conversion.convertDocument(document);
    const mistakes = [...mistakesOf(document, text, tokens), ...conversion.troubles];
    for (const mistake of mistakes) troubles.push(mistake);
    if (mistakes.length > 0 || value === null) continue;
    documents.push({ value, offset: document.contents?.range?.[0] ?? 0 });
  }
  return { documents, troubles: troubles.slice(0, yamlLimits.mistakes) };
}

/** The mistake of a large file outside the subset, which the complete reader could not read in reasonable memory. */
function tooLargeToBeUnusual(offset: number): TextTrouble {
  const megabytes = yamlLimits.unusualCharacters / 1e6;
  return {
    code: "YAML_NOT_PLAIN",
    offset,
    message: `expected plain YAML in a file of more than ${megabytes} MB, got something else or a mistake`,
    hint: "anchors, tags, tabs, folded texts and values over several lines are for smaller files; split the file",
  };
}

/** The fields from a merge key, and its position. */
interface Merged {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** Converts the nodes of one document to JSON values; aliases become copies, up to a limit. */
class Conversion {
  readonly troubles: TextTrouble[] = [];
  readonly #places: Places | undefined;
  readonly #anchors = new Map<string, unknown>();
  readonly #open = new Set<unknown>();
  #aliasDepth = 0;
  #aliasedValues = 0;

  constructor(places: Places | undefined) {
    this.#places = places;
  }

  convertDocument(document: Document.Parsed): unknown {
    return document.errors.length > 0 ? null : this.#convert(document.contents, 0);
  }

  #convert(node: unknown, depth: number): unknown {
    if (this.#aliasDepth > 0 && ++this.#aliasedValues > yamlLimits.aliasedValues) return this.#noteBomb(node);
    if (depth > maxNesting) return this.#note(nestingTrouble(startOf(node)));
    if (isAlias(node)) return this.#convertAlias(node.source, node, depth);
    if (isMap(node) || isSeq(node) || isScalar(node)) {
      if (node.anchor !== undefined && this.#aliasDepth === 0) this.#anchors.set(node.anchor, node);
    }
    if (isScalar(node)) return scalarValue(node);
    if (!isMap(node) && !isSeq(node)) return null;
    this.#open.add(node);
    const value = isMap(node) ? this.#convertMap(node, depth) : this.#convertSeq(node, depth);
    this.#open.delete(node);
    return value;
  }

  #convertMap(node: YAMLMap, depth: number): unknown {
    const mapping: Record<string, unknown> = {};
    const merged: Merged[] = [];
    for (const pair of node.items) {
      if (isMergeKey(pair.key)) {
        for (const one of this.#mergedBy(pair, depth)) merged.push(one);
        continue;
      }
      const key = this.#convertKey(pair);
      if (key === undefined) continue;
      const keyAt = startOf(pair.key);
      this.#places?.noteEntry(mapping, key, keyAt, pair.value == null ? keyAt : startOf(pair.value));
      if (Object.hasOwn(mapping, key)) {
        this.#note({
          code: "YAML_KEY_DUPLICATE",
          offset: keyAt,
          message: `expected each key once in a mapping, got ${shownKey(key)} again`,
          hint: "keys are compared as text",
        });
      }
      setField(mapping, key, this.#convert(pair.value, depth + 1));
    }
    for (const { fields, at } of merged) {
      for (const [key, value] of Object.entries(fields)) {
        // A mapping's own fields override merged ones, and earlier merges override later ones.
        if (Object.hasOwn(mapping, key)) continue;
        this.#places?.noteEntry(mapping, key, at, at);
        setField(mapping, key, value);
      }
    }
    return mapping;
  }

  /** The fields of a merge key: those of a mapping, or of a list of them. */
  #mergedBy({ key, value }: Pair, depth: number): readonly Merged[] {
    const at = startOf(key);
    const given = this.#convert(value, depth + 1);
    // A value that cannot be converted is already reported.
    if (given === null && this.troubles.length > 0) return [];
    const mappings: readonly unknown[] = Array.isArray(given) ? given : [given];
    if (mappings.every(isRecord)) return mappings.map((fields) => ({ fields, at }));
    this.#note({
      code: "YAML_MERGE_KEY",
      offset: at,
      message: 'expected a mapping or a list of mappings after "<<"',
      hint: "merge an alias of a mapping: <<: *name",
    });
    return [];
  }

  #convertSeq(node: YAMLSeq, depth: number): unknown {
    const list: unknown[] = [];
    for (const item of node.items) {
      this.#places?.noteItem(list, startOf(item));
      list.push(this.#convert(item, depth + 1));
    }
    return list;
  }

  #convertKey({ key }: Pair): string | undefined {
    if (isScalar(key)) {
      return key.type === "PLAIN" ? (key.source ?? String(key.value)) : String(key.value);
    }
    this.#note({
      code: "YAML_KEY_INVALID",
      offset: startOf(key),
      message: `expected a text as key, got ${isSeq(key) ? "a list" : isMap(key) ? "a mapping" : "an alias"}`,
    });
    return undefined;
  }

  #convertAlias(name: string, node: unknown, depth: number): unknown {
    const target = this.#anchors.get(name);
    const offset = startOf(node);
    if (target === undefined || this.#open.has(target)) {
      const got = target === undefined ? "which no anchor before it defines" : "inside the value it stands for";
      const hint = 'put a text that begins with "*" in quotes';
      return this.#note({ code: "YAML_SYNTAX", offset, message: `expected a value, got an alias ${got}`, hint });
    }
    this.#aliasDepth++;
    const value = this.#convert(target, depth);
    this.#aliasDepth--;
    return value;
  }

  #noteBomb(node: unknown): null {
    if (this.troubles.some(({ code }) => code === "YAML_ALIAS_BOMB")) return null;
    return this.#note({
      code: "YAML_ALIAS_BOMB",
      offset: startOf(node),
      message: `expected aliases to stand for at most ${yamlLimits.aliasedValues} values in a document, got more`,
      hint: "aliases of aliases multiply; write the values out",
    });
  }

  #note(trouble: TextTrouble): null {
    this.troubles.push(trouble);
    return null;
  }
}

function scalarValue(node: ScalarNode): unknown {
  const { value } = node;
  if (typeof value === "bigint") return jsonInteger(value);
  return typeof value === "number" ? jsonNumber(value) : (value ?? null);
}

function startOf(node: unknown): number {
  const range = isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? node.range : undefined;
  return range?.[0] ?? 0;
}

function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === "PLAIN" && key.source === "<<";
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
