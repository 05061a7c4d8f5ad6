import type { DescMessage, Message } from "@bufbuild/protobuf";
import { fromText, toText } from "@bufbuild/protobuf/txtpb";
import type { Schema } from "../descriptor/schema.ts";
import type { TextProblem } from "../problem.ts";
import { DESCRIPTORS_HINT } from "./descriptor-hints.ts";

/** A parsed text, or the first problem in it, where the parser stops. */
export type ParsedText =
  | { readonly content: Message; readonly problem: undefined }
  | { readonly content: undefined; readonly problem: TextProblem };

export function parseText(message: DescMessage, text: string, schema: Schema): ParsedText {
  try {
    return { content: readPrefix(message, text, schema), problem: undefined };
  } catch (error) {
    return { content: undefined, problem: locate(message, text, schema, messageOf(error)) };
  }
}

export function formatText(message: DescMessage, content: Message, schema: Schema): string {
  try {
    return toText(message, content, { registry: schema.registry, printUnknownFields: false });
  } catch (error) {
    // Anys nested until the stack overflows are printed as bytes.
    if (error instanceof RangeError) return toText(message, content, { printUnknownFields: false });
    throw error;
  }
}

function readPrefix(message: DescMessage, text: string, schema: Schema): Message {
  return fromText(message, text, { registry: schema.registry });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/**
 * Finds the position of a parse error, which the parser does not report. It reads in one pass and stops at the first
 * mistake, so every prefix of the text with the mistake fails with the same error, and no shorter one does: a binary
 * search finds the shortest.
 */
function locate(message: DescMessage, text: string, schema: Schema, reason: string): TextProblem {
  const ends = tokenEnds(text);
  let low = 0;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (failsWith(reason, message, text.slice(0, ends[middle]), schema)) high = middle;
    else low = middle + 1;
  }
  const start = startOfToken(text, ends, low);
  const lines = text.slice(0, start).split("\n");
  const problem = {
    code: "TEXT_INVALID",
    severity: "error",
    line: lines.length,
    column: (lines.at(-1)?.length ?? 0) + 1,
    message: `expected ${message.typeName} in the text format: ${withoutQuotes(reason)}`,
  } as const;
  const isUnknown = /unknown (field|extension)|cannot find/.test(reason);
  return isUnknown ? { ...problem, hint: DESCRIPTORS_HINT } : problem;
}

/** The unexpected text may be an unquoted secret; the position is enough. */
function withoutQuotes(reason: string): string {
  return reason.replace(/got -?"[^"]{2,}"/, "got something else");
}

function failsWith(reason: string, message: DescMessage, beginning: string, schema: Schema): boolean {
  try {
    readPrefix(message, beginning, schema);
    return false;
  } catch (error) {
    return messageOf(error) === reason;
  }
}

const TOKEN = /#[^\n]*|\s+|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|[\w.+-]+|./gs;

/** Returns the end of each token, and the end of the text. */
function tokenEnds(text: string): number[] {
  const ends: number[] = [];
  for (const match of text.matchAll(TOKEN)) {
    if (!/^[\s#]/.test(match[0])) ends.push(match.index + match[0].length);
  }
  if (ends.at(-1) !== text.length) ends.push(text.length);
  return ends;
}

function startOfToken(text: string, ends: readonly number[], index: number): number {
  const previous = ends[index - 1] ?? 0;
  const between = /^(?:\s|#[^\n]*)*/.exec(text.slice(previous))?.[0].length ?? 0;
  return Math.min(previous + between, text.length);
}
