import { setImmediate } from "node:timers/promises";
import { contentDigest, type FieldProblem } from "@xdskit/envoy-api";
import { createResource, type Resource } from "@xdskit/protocol";
import type { Candidate } from "./document/envelope.ts";
import { ItemMemory, knownItem } from "./document/item-memory.ts";
import { type Decoding, readValue } from "./read-resource.ts";

/** A resource that was read, and what it is warned of. */
interface ReadItem {
  readonly resource: Resource;
  readonly problems: readonly FieldProblem[];
}

/** Resources of the same file as it was before: what did not change is not read again. */
export class KnownResources {
  /** By their texts, as far as the reader of the text tells those. */
  readonly items: ItemMemory = new ItemMemory();
  /** By a digest of their JSON. */
  digests: ReadonlyMap<bigint, ReadItem> = new Map();
}

/** How long decoding may keep everything else waiting. */
const PAUSE_AFTER_MS = 15;

/** Reads candidates of one file, and remembers those that are read. */
export class CandidateReader {
  readonly #decoding: Decoding;
  readonly #known: KnownResources;
  readonly #keepsDigests: boolean;
  readonly #digests = new Map<bigint, ReadItem>();
  #pausedAt = performance.now();

  /** A file of one resource is known by its own digest. */
  constructor(decoding: Decoding, known: KnownResources, count: number) {
    this.#decoding = decoding;
    this.#known = known;
    this.#keepsDigests = count > 1;
  }

  /** A promise to wait for when other work has waited long enough. */
  pauseIfDue(): Promise<void> | undefined {
    if (performance.now() - this.#pausedAt < PAUSE_AFTER_MS) return undefined;
    return setImmediate().then(() => {
      this.#pausedAt = performance.now();
    });
  }

  /** What it is and, whether it is known or read, what is to be said of it. */
  read({ value, path, bodyPath }: Candidate): { resource: Resource | undefined; problems: readonly FieldProblem[] } {
    const known = knownItem(value);
    if (known !== undefined) return known;
    const { items, digests } = this.#known;
    const digest = this.#keepsDigests && !items.isNoted(value) ? contentDigest([JSON.stringify(value)]) : undefined;
    const same = digest === undefined ? undefined : digests.get(digest);
    if (digest !== undefined && same !== undefined) {
      this.#digests.set(digest, same);
      return same;
    }
    const inner = bodyPath.slice(path.length);
    const { input, problems } = readValue(value, this.#decoding, inner);
    if (input === undefined) return { resource: undefined, problems };
    const resource = createResource(input, contentDigest);
    if (digest === undefined) items.remember(value, { resource, problems, bodyPath: inner });
    else this.#digests.set(digest, { resource, problems });
    return { resource, problems };
  }

  /** What this file holds now is what is known next time. */
  finish(): void {
    this.#known.items.finish();
    this.#known.digests = this.#digests;
  }
}
