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
import { mostInFile, ProblemBound, type ProblemKind } from "./problem-bound.ts";
import type { Decoding } from "./read-resource.ts";
import { problemKind } from "./settings/severity.ts";

/** A text with documents to decode. */
export interface DocumentsToDecode {
  readonly file: string;
  readonly documents: readonly unknown[];
  readonly known: KnownResources;
}

/** How many known resources are taken without a look at the clock. */
const KNOWN_AT_ONCE = 64;

/** Decodes all documents of a text. Pauses for other work between resources. The problems have no places yet. */
export async function decodeDocuments(
  { file, documents, known }: DocumentsToDecode,
  decoding: Decoding,
): Promise<DecodedDocuments> {
  const unfolded = documents.map(unfold);
  const count = unfolded.reduce((sum, { candidates }) => sum + candidates.length, 0);
  const reader = new CandidateReader(decoding, known, count);
  const decoded = new DecodedDocuments(file);
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
  return decoded;
}

type NotedProblem = Pick<Problem, "code" | "severity" | "message" | "hint">;

/** The problems of an item that the limit of a file admits. */
interface NotedItem {
  readonly item: ReadItem | RefusedItem;
  readonly place: Omit<DocumentPlace, "part">;
  /** The admitted problems, by their index. */
  readonly admitted: readonly number[];
}

interface NotedTrouble {
  readonly problem: NotedProblem;
  readonly place: DocumentPlace;
}

/** Collects what is decoded of a text. Only problems that are told need a place, so they are placed last. */
export class DecodedDocuments {
  readonly resources: DecodedResource[];
  readonly refused: Identity[] = [];
  readonly #file: string;
  readonly #noted: (NotedItem | NotedTrouble)[] = [];
  readonly #kinds: ProblemKind[] = [];
  readonly #bound = new ProblemBound(mostInFile);

  /** `resources`: those that are decoded already. */
  constructor(file: string, resources: DecodedResource[] = []) {
    this.#file = file;
    this.resources = resources;
  }

  read(candidate: Candidate, document: number, reader: CandidateReader): void {
    const item = reader.read(candidate);
    if (item.resource !== undefined) item.shown = undefined; // of another text
    this.noteItem(item, { document, path: candidate.path });
    if (item.resource === undefined) this.refused.push(...identify(candidate));
    else this.resources.push(decodedAt(item, document, candidate.bodyPath));
  }

  /** Notes the problems of an item at a path; they will be placed unless `shown` says where they are. */
  noteItem(item: ReadItem | RefusedItem, place: Omit<DocumentPlace, "part">): void {
    if (item.problems.length === 0) return;
    const admitted: number[] = [];
    for (const [index, problem] of item.problems.entries()) {
      if (!this.#bound.admits(problem)) continue;
      admitted.push(index);
      this.#kinds.push(problemKind(problem, [...place.path, ...problem.path]));
    }
    if (admitted.length > 0) this.#noted.push({ item, place, admitted });
    else if (item.resource !== undefined) item.shown = undefined;
  }

  readError({ type, name, error, path }: StatedError, document: number): void {
    const resource = createResourceError({ type, name, error }, contentDigest);
    this.resources.push({ resource, place: { document, path, part: "value" } });
  }

  note(problem: NotedProblem, place: DocumentPlace): void {
    if (!this.#bound.admits(problem)) return;
    this.#noted.push({ problem, place });
    this.#kinds.push(problemKind(problem, place.path));
  }

  /** The content with its problems where they stand in the text. */
  placedIn(text: PlacedText): FileContent {
    const { resources, refused } = this;
    return { resources, refused, problems: this.#place(text) };
  }

  /**
   * The content, whose problems are placed when they are asked for: of 100 files with 1,000 warnings each, those of ten
   * are. The text must be the one that was read until then.
   */
  placedLater(text: PlacedText): FileContent {
    const { resources, refused } = this;
    let placed: readonly Problem[] | undefined;
    const place = (): readonly Problem[] => {
      placed ??= this.#place(text);
      return placed;
    };
    return {
      resources,
      refused,
      problemKinds: [...this.#kinds, ...this.#bound.summary(this.#file)],
      get problems() {
        return place();
      },
    };
  }

  #place(text: PlacedText): readonly Problem[] {
    const problems: Problem[] = [];
    // An item may be noted twice, at different places of the same text.
    const seen = new Set<unknown>();
    for (const noted of this.#noted) {
      if ("problem" in noted) {
        problems.push(this.#placed(noted.problem, noted.place, text));
        continue;
      }
      const { item } = noted;
      if (item.resource !== undefined && seen.has(item)) item.shown = undefined;
      seen.add(item);
      for (const problem of this.#placeItem(noted, text)) problems.push(problem);
    }
    return [...problems, ...this.#bound.summary(this.#file)];
  }

  #placeItem({ item, place: { document, path }, admitted }: NotedItem, text: PlacedText): readonly Problem[] {
    const placed = admitted.flatMap((index) => {
      const problem = item.problems[index];
      if (problem === undefined) return [];
      const known = item.resource === undefined ? undefined : item.shown?.[index];
      if (known !== undefined) return known;
      const { code, severity, message, hint } = problem;
      const noted = { code, severity, message, ...optionalHint(hint) };
      return this.#placed(noted, { document, path: [...path, ...problem.path], part: partOf(problem) }, text);
    });
    if (item.resource !== undefined) item.shown = placed.length === item.problems.length ? placed : undefined;
    return placed;
  }

  #placed(problem: NotedProblem, place: DocumentPlace, text: PlacedText): Problem {
    const path = formatPath(place.path);
    return { ...problem, file: this.#file, ...text.show(place), ...(path === "" ? {} : { path }) };
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
