import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** The resources or the literal text of a file. */
export type FileContent = readonly object[] | string;

/** A temporary directory of resources. */
export interface Site extends Disposable {
  readonly directory: string;
  /**
   * Writes files beside the old ones, then renames them into place one right after the other; undefined removes a file.
   * A server that reads between two renames sees half of a change, so nothing slow happens between them.
   */
  write(files: Readonly<Record<string, FileContent | undefined>>): void;
  /** Overwrites a file in place, as some editors do. */
  writeInPlace(file: string, content: FileContent): void;
}

/**
 * A memory file system where available: replacing a file on a busy disk can take 150 ms, and a server loads after 50 ms
 * without changes.
 */
const base = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Creates a site. Resource files are JSON, which is also YAML. */
export function createSite(files: Readonly<Record<string, FileContent | undefined>> = {}): Site {
  const directory = mkdtempSync(join(base, "xds-e2e-"));
  const site: Site = {
    directory,
    write(changed) {
      const steps = Object.entries(changed).map(([file, content], index) => {
        const path = join(directory, file);
        if (content === undefined) return () => rmSync(path, { recursive: true, force: true });
        const temporary = writeBeside(path, textOf(content), index);
        return () => renameSync(temporary, path);
      });
      for (const step of steps) step();
    },
    writeInPlace(file, content) {
      writeFileSync(join(directory, file), textOf(content));
    },
    [Symbol.dispose]() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
  site.write(files);
  return site;
}

function textOf(content: FileContent): string {
  return typeof content === "string" ? content : `${JSON.stringify({ resources: content }, undefined, 1)}\n`;
}

/** Writes a temporary file with a hidden name, so that readers of the directory ignore it. */
function writeBeside(path: string, text: string, index: number): string {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.new-${process.pid}-${index}`);
  writeFileSync(temporary, text);
  return temporary;
}
