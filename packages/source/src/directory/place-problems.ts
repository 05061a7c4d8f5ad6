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
import { readWholeFile } from "./read-file.ts";

type Placed = Pick<Problem, "file" | "line" | "column" | "excerpt" | "path">;

/**
 * Finds the lines of problems between files. Texts are not kept, so it reads the affected files again, and remembers
 * the lines while the content stays the same.
 */
export class ProblemPlacer {
  readonly #directory: string;
  readonly #fileSystem: FileSystem;
  readonly #found = new WeakMap<LayerFile, Map<string, Placed>>();

  constructor(directory: string, fileSystem: FileSystem) {
    this.#directory = directory;
    this.#fileSystem = fileSystem;
  }

  /** `stampOf` returns a file's stamp when it was read; if the file changed since, no line is shown. */
  async place(
    problems: readonly CrossProblem[],
    stampOf: (file: string) => string | undefined,
  ): Promise<readonly Problem[]> {
    const origins = problems.flatMap(({ at, related }) => (related === undefined ? [at] : [at, related]));
    await this.#findAll(origins, stampOf);
    return problems.map((problem) => this.#placed(problem));
  }

  /** The places of resources; undefined where there is no origin. `stampOf` as in `place`. */
  async placesOf(
    origins: readonly (Origin | undefined)[],
    stampOf: (file: string) => string | undefined,
  ): Promise<readonly (ResourcePlace | undefined)[]> {
    await this.#findAll(
      origins.filter((origin) => origin !== undefined),
      stampOf,
    );
    return origins.map((origin) => {
      if (origin === undefined) return undefined;
      const { file, line } = this.#lookUp(origin);
      return { file, ...(line !== undefined && { line }) };
    });
  }

  async #findAll(origins: readonly Origin[], stampOf: (file: string) => string | undefined): Promise<void> {
    const wanted = new Map<LayerFile, Origin[]>();
    for (const origin of origins) {
      if (this.#found.get(origin.file)?.has(keyOf(origin)) === true) continue;
      const together = wanted.get(origin.file);
      if (together === undefined) wanted.set(origin.file, [origin]);
      else together.push(origin);
    }
    for (const [file, ofFile] of wanted) await this.#find(file, ofFile, stampOf(file.file));
  }

  async #find(file: LayerFile, origins: readonly Origin[], stamp: string | undefined): Promise<void> {
    const found = this.#found.get(file) ?? new Map<string, Placed>();
    this.#found.set(file, found);
    const source = await this.#sourceOf(file, stamp);
    for (const origin of origins) found.set(keyOf(origin), placeIn(source, origin));
  }

  async #sourceOf({ file }: LayerFile, stamp: string | undefined): Promise<PlacedText | undefined> {
    const role = roleOf(file);
    if (role.kind !== "resources" || role.format === "proto") return undefined;
    const reading = await readWholeFile(join(this.#directory, file), file, Number.MAX_SAFE_INTEGER, this.#fileSystem);
    if (reading.kind !== "read" || reading.stamp !== stamp) return undefined;
    const { text } = decodeText(file, reading.bytes);
    if (text === undefined) return undefined;
    return role.format === "text" ? new TextFormatText(text) : new SourceText(text, role.format, new ItemMemory());
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
