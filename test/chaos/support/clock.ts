import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerCommand } from "../../e2e/support/peers.ts";

/**
 * The clock of a process and its children, as it is set by hand or by NTP: what Date says jumps, and monotonic clocks go
 * on. By libfaketime, so programs that do not use the C library, such as etcd, cannot have one.
 */
export class Clock implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "xds-chaos-clock-"));
  /** What the process is started with. */
  readonly env: Readonly<Record<string, string>>;

  private constructor(library: string) {
    this.jump(0);
    this.env = {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    };
  }

  /** Undefined: libfaketime is not installed. */
  static create(): Clock | undefined {
    const [library] = peerCommand("libfaketime") ?? [];
    return library === undefined ? undefined : new Clock(library);
  }

  /** How far the clock is ahead of the machine's, in seconds. The process sees it within a second. */
  jump(seconds: number): void {
    writeFileSync(this.#file, `${seconds < 0 ? "" : "+"}${seconds}\n`);
  }

  get #file(): string {
    return join(this.#directory, "offset");
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
