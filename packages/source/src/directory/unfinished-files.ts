import type { FileFormat } from "../layout.ts";

/** How long a file that seems to be half written is waited for, in milliseconds since its last change. */
const UNFINISHED_MS = 500;
const LINE_BREAK = 10;
const JSON_SPACE: ReadonlySet<number> = new Set(Buffer.from(" \t\r\n"));
const JSON_ENDS: ReadonlySet<number> = new Set(Buffer.from("]}"));

/** The files that seem to be half written. */
export class UnfinishedFiles {
  readonly #firstSeen = new Map<string, { readonly stamp: string | undefined; readonly atMs: number }>();

  /** Whether a file that seems to be half written has been as it is for a short time only. */
  mayGrow(path: string, stamp: string | undefined): boolean {
    const nowMs = performance.now();
    const seen = this.#firstSeen.get(path);
    if (seen !== undefined && seen.stamp === stamp) return nowMs - seen.atMs < UNFINISHED_MS;
    this.#firstSeen.set(path, { stamp, atMs: nowMs });
    return true;
  }

  forget(path: string): void {
    this.#firstSeen.delete(path);
  }
}

/**
 * Whether a text looks as if more of it were to be written. A part of a YAML file is often valid YAML; a partial write seldom
 * ends at a newline. JSON ends with a bracket.
 */
export const seemsCut: Readonly<Partial<Record<FileFormat, (bytes: Uint8Array) => boolean>>> = {
  yaml: isYamlCut,
  json: (bytes) => {
    const last = bytes.findLast((byte) => !JSON_SPACE.has(byte));
    return last !== undefined && !JSON_ENDS.has(last);
  },
};

/** Whether a YAML text does not end at a newline. */
export function isYamlCut(bytes: Uint8Array): boolean {
  return bytes.at(-1) !== LINE_BREAK;
}
