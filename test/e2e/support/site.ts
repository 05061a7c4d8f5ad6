import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What a file holds: resources, or its text as it is. */
export type FileContent = readonly object[] | string;

/** A temporary directory of resources, as an operator would keep it. */
export interface Site extends Disposable {
  readonly directory: string;
  /**
   * Writes files, then puts each in place by a rename over the old one, one right after the other; undefined removes a file. A
   * server that looks between two renames sees half of a change, so nothing that may take long lies between them.
   */
  write(files: Readonly<Record<string, FileContent | undefined>>): void;
  /** Overwrites a file in place, as an editor may. */
  writeInPlace(file: string, content: FileContent): void;
}

/** Memory, where the machine has it: to replace a file on a busy disk can take 150 ms, and a server looks after 50 ms of quiet. */
const base = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

/** Creates a site. A resource file is written as JSON, which is YAML too. */
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

/** A file that is to take the place of another one. Its name is hidden: whoever reads the directory must not take it for resources. */
function writeBeside(path: string, text: string, index: number): string {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = join(dirname(path), `.new-${process.pid}-${index}`);
  writeFileSync(temporary, text);
  return temporary;
}
