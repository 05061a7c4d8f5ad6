import { nestedTooDeep } from "@xdskit/envoy-api/internal";
import type { BaseProblem } from "@xdskit/protocol/internal";
import type { ItemMemory } from "./item-memory.ts";
import type { Places } from "./places.ts";

/** A mistake that makes a text unreadable, or its meaning deceptive. */
export interface TextTrouble extends Omit<BaseProblem, "severity"> {
  readonly code:
    | "JSON_KEY_DUPLICATE"
    | "JSON_SYNTAX"
    | "NESTING_TOO_DEEP"
    | "YAML_ALIAS_BOMB"
    | "YAML_KEY_DUPLICATE"
    | "YAML_KEY_INVALID"
    | "YAML_MERGE_KEY"
    | "YAML_NOT_PLAIN"
    | "YAML_SYNTAX"
    | "YAML_TAG";
  readonly offset: number;
}

/** One document of a text: a JSON value and its offset. */
export interface ParsedDocument {
  readonly value: unknown;
  readonly offset: number;
}

/** The content of a text, without documents that have mistakes. */
export interface ParsedText {
  readonly documents: readonly ParsedDocument[];
  readonly troubles: readonly TextTrouble[];
}

/** Reads a text; records positions in `places` and skips items known to `items`. */
export type TextReader = (text: string, places?: Places, items?: ItemMemory) => ParsedText;

/** The mistake of a document that is nested too deeply. */
export function nestingTrouble(offset: number): TextTrouble {
  return {
    code: "NESTING_TOO_DEEP",
    offset,
    message: nestedTooDeep,
    hint: "no resource needs so many; a bracket or an indentation is probably wrong",
  };
}
