import type { ValuePath } from "../problem.ts";
import type { ItemMemory } from "./item-memory.ts";
import type { Part, Places } from "./places.ts";

/** Something that makes a text unreadable, or that would be read otherwise than it looks. */
export interface TextTrouble {
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
  readonly message: string;
  readonly hint?: string;
}

/** One document of a text: a JSON value, and where it begins. */
export interface ParsedDocument {
  readonly value: unknown;
  readonly offset: number;
}

/** What a text holds. Documents with a trouble in them are left out. */
export interface ParsedText {
  readonly documents: readonly ParsedDocument[];
  readonly troubles: readonly TextTrouble[];
}

/** Reads a text; notes the places of all its values if it is asked to, and leaves out what is known. */
export type TextReader = (text: string, places?: Places, items?: ItemMemory) => ParsedText;

/** Deeper nesting is refused: Envoy's messages stay below it, and protobuf itself stops at 100 messages. */
export const maxNesting = 200;

/** Why a document is not read further than that. */
export function nestingTrouble(offset: number): TextTrouble {
  return {
    code: "NESTING_TOO_DEEP",
    offset,
    message: `expected at most ${maxNesting} levels of nesting, got more`,
    hint: "no resource needs so many; a bracket or an indentation is probably wrong",
  };
}

/** Where a place of a document is in the text. */
export interface DocumentPlace {
  readonly document: number;
  readonly path: ValuePath;
  readonly part: Part;
}
