import { Slices } from "../slices.ts";
import type { BodyPlace } from "./contents.ts";
import type { OpenedFiles } from "./opened-files.ts";
import { parseWord } from "./segment-format.ts";

/** Where bodies stand, by their digests. */
export type BodyPlaces = ReadonlyMap<string, BodyPlace>;

/** What a compaction leaves of the past. */
export interface BodyChoice {
  /** The files that stay, with all their bodies. */
  readonly staying: ReadonlySet<string>;
  /** Bodies that came after this number are kept. */
  readonly after: number;
  /** So are these. */
  readonly kept: ReadonlySet<string>;
}

/** The bodies of a ledger in a directory: where each stands. What grows with their number is done in slices. */
export class StoredBodies {
  readonly #places: Map<string, BodyPlace>;
  readonly #files: OpenedFiles;

  constructor(places: Map<string, BodyPlace>, files: OpenedFiles) {
    this.#places = places;
    this.#files = files;
  }

  place(digest: string): BodyPlace | undefined {
    return this.#places.get(digest);
  }

  /** Undefined: there is no such body. */
  async read(digest: string): Promise<Uint8Array | undefined> {
    const place = this.#places.get(digest);
    if (place === undefined) return undefined;
    const content = await this.#files.lineAt(place.file, place);
    if (content === undefined) throw damaged(place);
    return Buffer.from(content.toString("latin1", parseWord(content).length), "base64");
  }

  /** The content of the lines of bodies, by their digests, in the order in which they are on disk. */
  async *linesOf(places: BodyPlaces): AsyncIterable<readonly [digest: string, content: Buffer]> {
    const byFile = new Map<string, (BodyPlace & { readonly digest: string })[]>();
    const slices = new Slices();
    for (const [digest, place] of places) {
      const parts = byFile.get(place.file);
      if (parts === undefined) byFile.set(place.file, [{ digest, ...place }]);
      else parts.push({ digest, ...place });
      if (slices.count()) await slices.next();
    }
    for (const [file, parts] of byFile) {
      for await (const { part, line } of this.#files.linesAt(file, parts)) {
        if (line === undefined) throw damaged(part);
        yield [part.digest, line.content];
      }
    }
  }

  /** Bodies were appended, at these places or named again. */
  async add(places: BodyPlaces): Promise<void> {
    const slices = new Slices();
    for (const [digest, place] of places) {
      this.#places.set(digest, place);
      if (slices.count()) await slices.next();
    }
  }

  /** Drops the bodies that a compaction does not leave; returns these, and those that it has to move. */
  async drop({
    staying,
    after,
    kept,
  }: BodyChoice): Promise<{ readonly moving: BodyPlaces; readonly dropped: BodyPlaces }> {
    const slices = new Slices();
    const dropped = new Map<string, BodyPlace>();
    const moving = new Map<string, BodyPlace>();
    for (const [digest, place] of this.#places) {
      if (staying.has(place.file)) continue;
      const isKept = place.number > after || kept.has(digest);
      (isKept ? moving : dropped).set(digest, place);
      if (slices.count()) await slices.next();
    }
    for (const digest of dropped.keys()) {
      this.#places.delete(digest);
      if (slices.count()) await slices.next();
    }
    return { moving, dropped };
  }

  /** Bodies that were dropped are still there, unless an append brought them again. */
  restore(dropped: BodyPlaces): void {
    for (const [digest, place] of dropped) if (!this.#places.has(digest)) this.#places.set(digest, place);
  }

  /** Bodies stand elsewhere now; an append may have brought one again meanwhile. */
  async move(places: BodyPlaces): Promise<void> {
    const slices = new Slices();
    for (const [digest, place] of places) {
      const number = this.#places.get(digest)?.number ?? 0;
      this.#places.set(digest, { ...place, number });
      if (slices.count()) await slices.next();
    }
  }

  clear(): void {
    this.#places.clear();
  }
}

function damaged({ file, offset }: BodyPlace): Error {
  return new Error(`${file} is damaged at byte ${offset}`);
}
