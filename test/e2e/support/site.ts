import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What a file holds: resources, or its text as it is. */
export type FileContent = readonly object[] | string;

/** A temporary directory of resources, as an operator would keep it. */
export interface Site extends Disposable {
  readonly directory: string;
  /** Writes files, each by a rename over the old one, one after the other; undefined removes a file. */
  write(files: Readonly<Record<string, FileContent | undefined>>): void;
  /** Overwrites a file in place, as an editor may. */
  writeInPlace(file: string, content: FileContent): void;
}

/** Creates a site. A resource file is written as JSON, which is YAML too. */
export function createSite(files: Readonly<Record<string, FileContent | undefined>> = {}): Site {
  const directory = mkdtempSync(join(tmpdir(), "xds-e2e-"));
  const site: Site = {
    directory,
    write(changed) {
      for (const [file, content] of Object.entries(changed)) {
        const path = join(directory, file);
        if (content === undefined) rmSync(path, { recursive: true, force: true });
        else writeByRename(path, textOf(content));
      }
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

function writeByRename(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  // A hidden name: whoever reads the directory must not take it for a resource file.
  const temporary = join(dirname(path), `.new-${process.pid}`);
  writeFileSync(temporary, text);
  renameSync(temporary, path);
}
