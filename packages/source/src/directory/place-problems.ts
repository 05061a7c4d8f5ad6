import { join } from "node:path";
import { formatPath } from "@xdskit/protocol/internal";
import { decodeText } from "../document/file-text.ts";
import { ItemMemory } from "../document/item-memory.ts";
import type { PlacedText } from "../document/placed-text.ts";
import { SourceText } from "../document/source-text.ts";
import { TextFormatText } from "../document/text-format-text.ts";
import type { CrossProblem, LayerFile, Origin } from "../file-content.ts";
import { roleOf } from "../layout.ts";
import { optionalHint, type Problem } from "../problem.ts";
import type { ResourcePlace } from "../resource-places.ts";
import type { FileSystem } from "./file-system.ts";
import { fileLimit, readWholeFile } from "./read-file.ts";

type Placed = Pick<Problem, "file" | "line" | "column" | "excerpt" | "path">;

/** The files as they were read last. */
export interface KnownFiles {
  /** The stamp of a file when it was read; if it changed since, no line is shown. */
  stampOf(file: string): string | undefined;
  /** The bytes of a file that was read just now, unless they are too many to keep. */
  bytesOf(file: string): Uint8Array | undefined;
}

/**
 * Finds the lines of problems between files. Texts are not kept, so it reads most of the affected files again, and
 * remembers the lines while the content stays the same.
 */
export class ProblemPlacer {
  readonly #directory: string;
  readonly #fileSystem: FileSystem;
  readonly #found = new WeakMap<LayerFile, Map<string, Placed>>();

  constructor(directory: string, fileSystem: FileSystem) {
    this.#directory = directory;
    this.#fileSystem = fileSystem;
  }

  async place(problems: readonly CrossProblem[], known: KnownFiles): Promise<readonly Problem[]> {
    const origins = problems.flatMap(({ at, related }) => (related === undefined ? [at] : [at, related]));
    await this.#findAll(origins, known);
    return problems.map((problem) => this.#placed(problem));
  }

  /** The places of resources; undefined where there is no origin. */
  async placesOf(
    origins: readonly (Origin | undefined)[],
    known: KnownFiles,
  ): Promise<readonly (ResourcePlace | undefined)[]> {
    await this.#findAll(
      origins.filter((origin) => origin !== undefined),
      known,
    );
    return origins.map((origin) => {
      if (origin === undefined) return undefined;
      const { file, line } = this.#lookUp(origin);
      return { file, ...(line !== undefined && { line }) };
    });
  }

  async #findAll(origins: readonly Origin[], known: KnownFiles): Promise<void> {
    const wanted = new Map<LayerFile, Origin[]>();
    for (const origin of origins) {
      if (this.#found.get(origin.file)?.has(keyOf(origin)) === true) continue;
      const together = wanted.get(origin.file);
      if (together === undefined) wanted.set(origin.file, [origin]);
      else together.push(origin);
    }
    for (const [file, ofFile] of wanted) await this.#find(file, ofFile, known);
  }

  async #find(file: LayerFile, origins: readonly Origin[], known: KnownFiles): Promise<void> {
    const found = this.#found.get(file) ?? new Map<string, Placed>();
    this.#found.set(file, found);
    const source = await this.#sourceOf(file, known);
    for (const origin of origins) found.set(keyOf(origin), placeIn(source, origin));
  }

  async #sourceOf({ file }: LayerFile, known: KnownFiles): Promise<PlacedText | undefined> {
    const role = roleOf(file);
    if (role.kind !== "resources" || role.format === "proto") return undefined;
    const bytes = known.bytesOf(file) ?? (await this.#readAgain(file, known.stampOf(file)));
    const text = bytes === undefined ? undefined : decodeText(file, bytes).text;
    if (text === undefined) return undefined;
    return role.format === "text" ? new TextFormatText(text) : new SourceText(text, role.format, new ItemMemory());
  }

  async #readAgain(file: string, stamp: string | undefined): Promise<Uint8Array | undefined> {
    const reading = await readWholeFile(
      join(this.#directory, file),
      file,
      fileLimit(Number.MAX_SAFE_INTEGER),
      this.#fileSystem,
    );
    return reading.kind === "read" && reading.stamp === stamp ? reading.bytes : undefined;
  }

  #placed({ code, severity, message, hint, at, related }: CrossProblem): Problem {
    const other = related === undefined ? undefined : this.#lookUp(related);
    return {
      code,
      severity,
      ...this.#lookUp(at),
      message,
      ...optionalHint(hint),
      ...(other === undefined ? {} : { related: placeOnly(other) }),
    };
  }

  #lookUp(origin: Origin): Placed {
    return this.#found.get(origin.file)?.get(keyOf(origin)) ?? { file: origin.file.file };
  }
}

function placeIn(source: PlacedText | undefined, { file, place, text }: Origin): Placed {
  if (source === undefined || place === undefined) return { file: file.file };
  const { path, ...shown } = source.showText(place, text);
  const field = formatPath(path);
  return { file: file.file, ...shown, ...(field === "" ? {} : { path: field }) };
}

function placeOnly({ file, line, column }: Placed): NonNullable<Problem["related"]> {
  return { file, ...(line === undefined ? {} : { line }), ...(column === undefined ? {} : { column }) };
}

function keyOf({ place, text }: Origin): string {
  return place === undefined ? text : `${place.document} ${formatPath(place.path)} ${text}`;
}
