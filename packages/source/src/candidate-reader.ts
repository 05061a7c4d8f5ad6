import { setImmediate } from "node:timers/promises";
import { contentDigest, type FieldProblem } from "@xdskit/envoy-api";
import { usesJsonSpelling } from "@xdskit/envoy-api/internal";
import { createResource, type Resource, type ResourceInput } from "@xdskit/protocol";
import type { ValuePath } from "@xdskit/protocol/internal";
import type { Candidate } from "./document/candidate.ts";
import { candidateAlone } from "./document/envelope.ts";
import { ItemMemory, type KnownItem, knownItem } from "./document/item-memory.ts";
import type { KnownList } from "./file-content.ts";
import { type Decoding, readValue } from "./read-resource.ts";

/** A resource, its warnings and how its fields are spelled. */
export interface ReadItem extends Pick<KnownItem, "decoded" | "shown"> {
  readonly resource: Resource;
  readonly problems: readonly FieldProblem[];
  readonly isJsonSpelled: boolean;
}

/** The problems of what is no resource. */
export interface RefusedItem {
  readonly resource: undefined;
  readonly problems: readonly FieldProblem[];
}

/** The resources of the previous version of a file, so that unchanged ones are not read again. */
export class KnownResources {
  /** By their text, where the text reader supports it. */
  readonly items: ItemMemory = new ItemMemory();
  /** By a digest of their JSON. */
  digests: ReadonlyMap<bigint, ReadItem> = new Map();
  /** The file as it was read last, if nothing but its changes need be read. */
  list: KnownList | undefined;
}

/** The longest time to decode without a pause for other work, in milliseconds. */
const PAUSE_AFTER_MS = 15;

/** Reads the candidates of one file and remembers the results. */
export class CandidateReader {
  readonly #decoding: Decoding;
  readonly #known: Omit<KnownResources, "list">;
  readonly #keepsDigests: boolean;
  readonly #digests = new Map<bigint, ReadItem>();
  #pausedAt = performance.now();

  /** A file with one resource is recognised by the file's own digest. */
  constructor(decoding: Decoding, known: Omit<KnownResources, "list">, count: number) {
    this.#decoding = decoding;
    this.#known = known;
    this.#keepsDigests = count > 1;
  }

  /** A promise to await once other work has waited long enough; undefined before. */
  pauseIfDue(): Promise<void> | undefined {
    if (performance.now() - this.#pausedAt < PAUSE_AFTER_MS) return undefined;
    return setImmediate().then(() => {
      this.#pausedAt = performance.now();
    });
  }

  /** Reads a candidate, or recalls it, with its problems. */
  read({ value, path, bodyPath }: Candidate): ReadItem | RefusedItem {
    const known = knownItem(value);
    if (known !== undefined) return known;
    const { items, digests } = this.#known;
    const digest =
      this.#keepsDigests && items.extentOf(value) === undefined ? contentDigest([JSON.stringify(value)]) : undefined;
    const same = digest === undefined ? undefined : digests.get(digest);
    if (digest !== undefined && same !== undefined) {
      this.#digests.set(digest, same);
      return same;
    }
    const inner = bodyPath.slice(path.length);
    const read = readNew(value, inner, this.#decoding);
    if (read.resource === undefined) return read;
    if (digest === undefined) return items.remember(value, { ...read, bodyPath: inner }) ?? read;
    this.#digests.set(digest, read);
    return read;
  }

  /** Keeps what this file has now for the next read. */
  finish(): void {
    this.#known.items.finish();
    this.#known.digests = this.#digests;
  }
}

const createWithVersion = (input: ResourceInput): Resource => createResource(input, contentDigest);

function readNew(value: unknown, bodyPath: ValuePath, decoding: Decoding): ReadItem | RefusedItem {
  const { create = createWithVersion, onResource } = decoding;
  const { input, problems } = readValue(value, decoding, bodyPath);
  if (input === undefined) return { resource: undefined, problems };
  const resource = create(input);
  onResource?.(resource);
  return { resource, problems, isJsonSpelled: usesJsonSpelling(value) };
}

/** Reads an item of a list whose document is not read yet. Undefined: it depends on that, or is none. */
export function readAhead(value: unknown, decoding: Decoding): KnownItem | undefined {
  const candidate = candidateAlone(value);
  if (candidate === undefined) return undefined;
  const { bodyPath } = candidate;
  const read = readNew(value, bodyPath, decoding);
  return read.resource === undefined ? undefined : { ...read, bodyPath };
}
