import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

const FILLER = "filler";

/** A directory on a file system of its own (tmpfs), which can be filled up. */
export class SmallDisk implements Disposable {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Undefined: this user may not mount anything. */
  static mount(directory: string, megabytes: number): SmallDisk | undefined {
    const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "xds-chaos", directory]);
    return status === 0 ? new SmallDisk(directory) : undefined;
  }

  /** From now on there is no space left. */
  fill(): void {
    const file = openSync(join(this.directory, FILLER), "w");
    try {
      for (const chunk of [Buffer.alloc(1024 * 1024), Buffer.alloc(1)]) writeUntilFull(file, chunk);
    } finally {
      closeSync(file);
    }
  }

  free(): void {
    rmSync(join(this.directory, FILLER), { force: true });
  }

  [Symbol.dispose](): void {
    // What still has a file open there keeps it until its end.
    spawnSync("umount", ["--lazy", this.directory]);
  }
}

function writeUntilFull(file: number, chunk: Buffer): void {
  try {
    for (;;) writeSync(file, chunk);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOSPC") throw cause;
  }
}
