import { setImmediate } from "node:timers/promises";
import type { FieldProblem, TextProblem } from "@xdskit/envoy-api";
import { contentDigest } from "@xdskit/envoy-api";
import { createResource, type Resource } from "@xdskit/protocol";
import { decodeProto } from "./decode-proto.ts";
import { type Candidate, unfold } from "./document/envelope.ts";
import { decodeText } from "./document/file-text.ts";
import type { DocumentPlace, TextTrouble } from "./document/parsed-text.ts";
import { SourceText } from "./document/source-text.ts";
import type { DecodedResource, FileContent } from "./file-content.ts";
import type { FileFormat } from "./layout.ts";
import { formatPath, optionalHint, type Problem, unplacedProblem } from "./problem.ts";
import { type Decoding, readValue } from "./read-resource.ts";

/** Resources of the same file as it was before, by a digest of their JSON: what did not change is not read again. */
export type KnownResources = Map<bigint, Resource>;

/** A file to be decoded. */
export interface FileToDecode {
  readonly file: string;
  readonly format: FileFormat;
  readonly bytes: Uint8Array;
}

/** How long decoding may keep everything else waiting. */
const PAUSE_AFTER_MS = 15;

/**
 * Everything in a file: its resources, and every problem of it. Lets other work go on between resources. `known` is
 * replaced by what this call found.
 */
export function decodeFile(file: FileToDecode, decoding: Decoding, known: KnownResources): Promise<FileContent> {
  switch (file.format) {
    case "yaml":
    case "json":
      return new TextDecoding(file, file.format, decoding, known).decode();
    case "text":
      return decodeTextFormat(file, decoding, known);
    case "proto":
      return Promise.resolve(decodeProto(file.file, file.bytes, decoding));
  }
}

class TextDecoding {
  readonly #file: FileToDecode;
  readonly #format: "yaml" | "json";
  readonly #decoding: Decoding;
  readonly #known: KnownResources;
  readonly #resources: DecodedResource[] = [];
  readonly #problems: Problem[] = [];

  constructor(file: FileToDecode, format: "yaml" | "json", decoding: Decoding, known: KnownResources) {
    this.#file = file;
    this.#format = format;
    this.#decoding = decoding;
    this.#known = known;
  }

  async decode(): Promise<FileContent> {
    const { text, problem } = decodeText(this.#file.file, this.#file.bytes);
    if (text === undefined) return { resources: [], problems: [problem] };
    const source = new SourceText(text, this.#format);
    for (const trouble of source.parsed.troubles) this.#problems.push(this.#textProblem(trouble, source));
    const unfolded = source.parsed.documents.map(({ value }) => unfold(value));
    const count = unfolded.reduce((sum, { candidates }) => sum + candidates.length, 0);
    const reader = new CandidateReader(this.#decoding, count > 1 ? this.#known : undefined);
    for (const [document, { candidates, troubles }] of unfolded.entries()) {
      for (const { code, message, hint, path, part } of troubles) {
        this.#note({ code, severity: "error", message, ...optionalHint(hint) }, { document, path, part }, source);
      }
      for (const candidate of candidates) {
        const pause = reader.pauseIfDue();
        if (pause !== undefined) await pause;
        this.#read(candidate, document, reader, source);
      }
    }
    reader.finish();
    return { resources: this.#resources, problems: this.#problems };
  }

  #read(candidate: Candidate, document: number, reader: CandidateReader, source: SourceText): void {
    const { resource, problems } = reader.read(candidate);
    for (const problem of problems) {
      const place = { document, path: [...candidate.path, ...problem.path], part: partOf(problem) };
      const { code, severity, message, hint } = problem;
      this.#note({ code, severity, message, ...optionalHint(hint) }, place, source);
    }
    if (resource === undefined) return;
    this.#resources.push({ resource, place: { document, path: candidate.bodyPath, part: "value" } });
  }

  #note(
    problem: Pick<Problem, "code" | "severity" | "message" | "hint">,
    place: DocumentPlace,
    source: SourceText,
  ): void {
    const path = formatPath(place.path);
    this.#problems.push({
      ...problem,
      file: this.#file.file,
      ...source.show(place),
      ...(path === "" ? {} : { path }),
    });
  }

  #textProblem({ code, offset, message, hint, otherOffset }: TextTrouble, source: SourceText): Problem {
    const { file } = this.#file;
    const related = otherOffset === undefined ? {} : { related: { file, ...source.showOffset(otherOffset) } };
    return { code, severity: "error", file, ...source.showOffset(offset), message, ...optionalHint(hint), ...related };
  }
}

/** Reads candidates of one file, and remembers those that are read. */
class CandidateReader {
  readonly #decoding: Decoding;
  readonly #known: KnownResources | undefined;
  readonly #now: KnownResources = new Map();
  #pausedAt = performance.now();

  /** Without `known`, nothing is remembered: a file of one resource is known by its own digest. */
  constructor(decoding: Decoding, known: KnownResources | undefined) {
    this.#decoding = decoding;
    this.#known = known;
  }

  /** A promise to wait for when other work has waited long enough. */
  pauseIfDue(): Promise<void> | undefined {
    if (performance.now() - this.#pausedAt < PAUSE_AFTER_MS) return undefined;
    return setImmediate().then(() => {
      this.#pausedAt = performance.now();
    });
  }

  read({ value, path, bodyPath }: Candidate): { resource: Resource | undefined; problems: readonly FieldProblem[] } {
    const digest = this.#known === undefined ? undefined : contentDigest([JSON.stringify(value)]);
    const known = digest === undefined ? undefined : this.#known?.get(digest);
    if (known !== undefined) {
      if (digest !== undefined) this.#now.set(digest, known);
      return { resource: known, problems: [] };
    }
    const { input, problems } = readValue(value, this.#decoding, bodyPath.slice(path.length));
    if (input === undefined) return { resource: undefined, problems };
    const resource = createResource(input, contentDigest);
    // One with warnings is read again, so that they are said again.
    if (digest !== undefined && problems.length === 0) this.#now.set(digest, resource);
    return { resource, problems };
  }

  /** What this file holds now is what is known next time. */
  finish(): void {
    this.#known?.clear();
    for (const [digest, resource] of this.#now) this.#known?.set(digest, resource);
  }
}

/** An unknown field is wrong by its name, everything else by what it holds. */
function partOf(problem: FieldProblem): "key" | "value" {
  return problem.code === "FIELD_UNKNOWN" || problem.code === "FIELD_DUPLICATE" ? "key" : "value";
}

/**
 * The text format: a DiscoveryResponse, or the message that a comment `# proto-message: <full name>` at the beginning
 * of the file names.
 */
async function decodeTextFormat(file: FileToDecode, decoding: Decoding, known: KnownResources): Promise<FileContent> {
  const { text, problem } = decodeText(file.file, file.bytes);
  if (text === undefined) return { resources: [], problems: [problem] };
  const { value, problems } = decoding.api.readText(messageNameIn(text), text);
  if (value === undefined)
    return { resources: [], problems: problems.map((found) => textFormatProblem(file.file, found)) };
  return await decodeUnplaced(file.file, value, new CandidateReader(decoding, known));
}

function messageNameIn(text: string): string {
  const named = /^(?:\s*#[^\n]*\n)*?\s*#\s*proto-message:\s*([\w.]+)/.exec(text)?.[1];
  return named ?? "envoy.service.discovery.v3.DiscoveryResponse";
}

function textFormatProblem(file: string, { line, column, message, hint }: TextProblem): Problem {
  const place = { ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
  return { code: "TEXT_INVALID", severity: "error", file, ...place, message, ...optionalHint(hint) };
}

async function decodeUnplaced(file: string, value: unknown, reader: CandidateReader): Promise<FileContent> {
  const { candidates, troubles } = unfold(value);
  const resources: DecodedResource[] = [];
  const problems: Problem[] = troubles.map(({ code, path, message, hint }) =>
    unplacedProblem(file, { code, severity: "error", path, message, ...optionalHint(hint) }),
  );
  for (const candidate of candidates) {
    const pause = reader.pauseIfDue();
    if (pause !== undefined) await pause;
    const { resource, problems: found } = reader.read(candidate);
    problems.push(
      ...found.map((problem) => unplacedProblem(file, { ...problem, path: [...candidate.path, ...problem.path] })),
    );
    if (resource !== undefined) resources.push({ resource, place: undefined });
  }
  reader.finish();
  return { resources, problems };
}
