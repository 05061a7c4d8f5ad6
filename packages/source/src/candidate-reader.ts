import { setImmediate } from "node:timers/promises";
import { contentDigest, type FieldProblem } from "@xdskit/envoy-api";
import { createResource, type Resource } from "@xdskit/protocol";
import type { Candidate } from "./document/envelope.ts";
import { type Decoding, readValue } from "./read-resource.ts";

/** Resources of the same file as it was before, by a digest of their JSON: what did not change is not read again. */
export type KnownResources = Map<bigint, Resource>;

/** How long decoding may keep everything else waiting. */
const PAUSE_AFTER_MS = 15;

/** Reads candidates of one file, and remembers those that are read. */
export class CandidateReader {
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
