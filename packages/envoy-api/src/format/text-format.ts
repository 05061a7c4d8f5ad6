import type { DescMessage, Message } from "@bufbuild/protobuf";
import { fromText, toText } from "@bufbuild/protobuf/txtpb";
import type { Schema } from "../descriptor/schema.ts";
import type { TextProblem } from "../problem.ts";

/** What a text was read as, or the first problem in it: the reader stops there. */
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
    // Anys in Anys until the stack is full: printed as bytes instead.
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
 * The reader says what is wrong but not where. It reads in one pass and stops at the first mistake, so every beginning of
 * the text that holds the mistake fails alike, and no shorter one does: the shortest is found by halving.
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
  return isUnknown
    ? { ...problem, hint: "what is newer than the built-in descriptors, or private, is added with --descriptors FILE" }
    : problem;
}

/** What stands where something else was expected may be a secret without its quotes; the place tells enough. */
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

/** Where each token of the text ends; one of them at its very end. */
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
