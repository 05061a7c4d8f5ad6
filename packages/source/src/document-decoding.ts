import { contentDigest, type FieldProblem } from "@xdskit/envoy-api";
import { createResourceError } from "@xdskit/protocol";
import { formatPath, type ValuePath } from "@xdskit/protocol/internal";
import { CandidateReader, type KnownResources, type ReadItem, type RefusedItem } from "./candidate-reader.ts";
import type { DecodedResource } from "./decoded-resource.ts";
import type { Candidate } from "./document/candidate.ts";
import type { DocumentPlace } from "./document/document-place.ts";
import { type Identity, identify, unfold } from "./document/envelope.ts";
import { knownItem } from "./document/item-memory.ts";
import type { PlacedText } from "./document/placed-text.ts";
import type { StatedError } from "./document/response-errors.ts";
import { anythingRefused, type FileContent } from "./file-content.ts";
import { optionalHint, type Problem } from "./problem.ts";
import { mostInFile, ProblemBound } from "./problem-bound.ts";
import type { Decoding } from "./read-resource.ts";

/** A text with documents to decode. */
export interface DocumentsToDecode {
  readonly file: string;
  readonly documents: readonly unknown[];
  readonly text: PlacedText;
  readonly known: KnownResources;
}

/** How many known resources are taken without a look at the clock. */
const KNOWN_AT_ONCE = 64;

/** Decodes all documents of a text, with positions. Pauses for other work between resources. */
export async function decodeDocuments(
  { file, documents, text, known }: DocumentsToDecode,
  decoding: Decoding,
): Promise<FileContent> {
  const unfolded = documents.map(unfold);
  const count = unfolded.reduce((sum, { candidates }) => sum + candidates.length, 0);
  const reader = new CandidateReader(decoding, known, count);
  const decoded = new DecodedDocuments(file, text);
  for (const [document, { candidates, errors, troubles }] of unfolded.entries()) {
    for (const { code, message, hint, path, part } of troubles) {
      decoded.note({ code, severity: "error", message, ...optionalHint(hint) }, { document, path, part });
    }
    if (troubles.length > 0) decoded.refused.push(...anythingRefused);
    for (const error of errors) decoded.readError(error, document);
    for (const [index, candidate] of candidates.entries()) {
      const isDue = index % KNOWN_AT_ONCE === 0 || knownItem(candidate.value) === undefined;
      const pause = isDue ? reader.pauseIfDue() : undefined;
      if (pause !== undefined) await pause;
      decoded.read(candidate, document, reader);
    }
  }
  reader.finish();
  decoded.finish();
  return decoded;
}

type NotedProblem = Pick<Problem, "code" | "severity" | "message" | "hint">;

/** Collects what is decoded of a text. */
export class DecodedDocuments implements FileContent {
  readonly resources: DecodedResource[] = [];
  readonly problems: Problem[] = [];
  readonly refused: Identity[] = [];
  readonly #file: string;
  readonly #text: PlacedText;
  readonly #bound = new ProblemBound(mostInFile);

  constructor(file: string, text: PlacedText) {
    this.#file = file;
    this.#text = text;
  }

  read(candidate: Candidate, document: number, reader: CandidateReader): void {
    const item = reader.read(candidate);
    if (item.resource !== undefined) item.shown = undefined; // of another text
    this.noteItem(item, { document, path: candidate.path });
    if (item.resource === undefined) this.refused.push(...identify(candidate));
    else this.resources.push(decodedAt(item, document, candidate.bodyPath));
  }

  /** Notes the problems of an item at a path; they are placed unless `shown` says where they are. */
  noteItem(item: ReadItem | RefusedItem, { document, path }: Omit<DocumentPlace, "part">): void {
    if (item.problems.length === 0) return;
    const admitted: Problem[] = [];
    for (const [index, problem] of item.problems.entries()) {
      if (!this.#bound.admits(problem)) continue;
      const { code, severity, message, hint } = problem;
      const placed =
        (item.resource !== undefined && item.shown?.[index]) ||
        this.#placed(
          { code, severity, message, ...optionalHint(hint) },
          { document, path: [...path, ...problem.path], part: partOf(problem) },
        );
      admitted.push(placed);
      this.problems.push(placed);
    }
    if (item.resource !== undefined) item.shown = admitted.length === item.problems.length ? admitted : undefined;
  }

  readError({ type, name, error, path }: StatedError, document: number): void {
    const resource = createResourceError({ type, name, error }, contentDigest);
    this.resources.push({ resource, place: { document, path, part: "value" } });
  }

  note(problem: NotedProblem, place: DocumentPlace): void {
    if (this.#bound.admits(problem)) this.problems.push(this.#placed(problem, place));
  }

  #placed(problem: NotedProblem, place: DocumentPlace): Problem {
    const path = formatPath(place.path);
    return { ...problem, file: this.#file, ...this.#text.show(place), ...(path === "" ? {} : { path }) };
  }

  finish(): void {
    this.problems.push(...this.#bound.summary(this.#file));
  }
}

/** The same object as before for a known item at the same place, because a file may hold 100,000. */
export function decodedAt(item: ReadItem, document: number, path: ValuePath): DecodedResource {
  const before = item.decoded;
  if (before?.place?.path === path && before.place.document === document) return before;
  const { resource, isJsonSpelled } = item;
  item.decoded = { resource, place: { document, path, part: "value" }, isJsonSpelled };
  return item.decoded;
}

/** An unknown field is wrong in its key, anything else in its value. */
function partOf(problem: FieldProblem): "key" | "value" {
  return problem.code === "FIELD_UNKNOWN" || problem.code === "FIELD_DUPLICATE" ? "key" : "value";
}
