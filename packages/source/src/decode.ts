import type { TextProblem } from "@xdskit/envoy-api";
import { KnownResources, readAhead } from "./candidate-reader.ts";
import { decodeProto } from "./decode-proto.ts";
import { hasItemsOfItsOwn } from "./document/envelope.ts";
import { decodeText } from "./document/file-text.ts";
import type { TextTrouble } from "./document/parsed-text.ts";
import { SourceText } from "./document/source-text.ts";
import { TextFormatText } from "./document/text-format-text.ts";
import { decodeDocuments } from "./document-decoding.ts";
import { anythingRefused, type FileContent } from "./file-content.ts";
import { readChange, rememberList } from "./known-list.ts";
import type { FileFormat } from "./layout.ts";
import { optionalHint, type Problem } from "./problem.ts";
import type { Decoding } from "./read-resource.ts";

/** A file to decode. */
export interface FileToDecode {
  readonly file: string;
  readonly format: FileFormat;
  readonly bytes: Uint8Array;
}

/** Decodes a file into its resources and all its problems. Replaces the content of `known` unless the text has mistakes. */
export async function decodeFile(
  { file, format, bytes }: FileToDecode,
  decoding: Decoding,
  known: KnownResources,
): Promise<FileContent> {
  if (format === "proto") return decodeProto(file, bytes, decoding);
  const changed = format === "text" ? undefined : readChange({ file, format, bytes }, decoding, known);
  if (changed !== undefined) return changed;
  const { text, problem } = decodeText(file, bytes);
  if (text === undefined) return { resources: [], problems: [problem], refused: anythingRefused };
  if (format === "text") return await decodeTextFormat(file, text, decoding, known);
  const source = readText(text, format, decoding, known);
  const { documents, troubles } = source.parsed;
  const values = documents.map(({ value }) => value);
  // While somebody writes, a text has mistakes now and then; the last one without any stays known.
  const memory = troubles.length === 0 ? known : new KnownResources();
  const decoded = await decodeDocuments({ file, documents: values, known: memory }, decoding);
  if (troubles.length === 0)
    return rememberList({ file, format, bytes }, documents, known, decoded) ?? decoded.placedIn(source);
  const { resources, problems } = decoded.placedIn(source);
  return {
    resources,
    problems: [...troubles.map((trouble) => syntaxProblem(file, trouble, source)), ...problems],
    refused: anythingRefused,
  };
}

/** Reads the text, and its items at once if the thread has nothing else to do. */
function readText(
  text: string,
  format: Exclude<FileFormat, "proto" | "text">,
  decoding: Decoding,
  known: KnownResources,
): SourceText {
  if (decoding.isAlone === true) known.items.readAhead((value) => readAhead(value, decoding));
  const source = new SourceText(text, format, known.items);
  if (!source.parsed.documents.some(({ value }) => hasItemsOfItsOwn(value))) return source;
  known.items.abandon();
  return new SourceText(text, format);
}

function syntaxProblem(file: string, { code, offset, message, hint }: TextTrouble, source: SourceText): Problem {
  return { code, severity: "error", file, ...source.showOffset(offset), message, ...optionalHint(hint) };
}

/**
 * Decodes the text format: a DiscoveryResponse, or the message that a comment `# proto-message: <full name>` at the
 * beginning of the file names.
 */
async function decodeTextFormat(
  file: string,
  text: string,
  decoding: Decoding,
  known: KnownResources,
): Promise<FileContent> {
  const { value, problems } = decoding.api.readText(messageNameIn(text), text);
  if (value === undefined) {
    const found = problems.map((problem) => textFormatProblem(file, problem));
    return { resources: [], problems: found, refused: anythingRefused };
  }
  const decoded = await decodeDocuments({ file, documents: [value], known }, decoding);
  return decoded.placedIn(new TextFormatText(text));
}

function messageNameIn(text: string): string {
  const named = /^(?:\s*#[^\n]*\n)*?\s*#\s*proto-message:\s*([\w.]+)/.exec(text)?.[1];
  return named ?? "envoy.service.discovery.v3.DiscoveryResponse";
}

function textFormatProblem(file: string, { line, column, message, hint }: TextProblem): Problem {
  const place = { ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
  return { code: "TEXT_INVALID", severity: "error", file, ...place, message, ...optionalHint(hint) };
}
