import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerCommand } from "../../e2e/support/peers.ts";

/** The clock of a process and its children, as it is set by hand or by NTP: the time of day jumps, and monotonic clocks go on. */
export class Clock implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), "xds-chaos-clock-"));
  /** What the process is started with. */
  readonly env: Readonly<Record<string, string>>;

  private constructor(envOf: (file: string) => Clock["env"]) {
    this.jump(0);
    this.env = envOf(this.#file);
  }

  /** Of a program that uses the C library, such as Node; undefined: libfaketime is not installed. */
  static create(): Clock | undefined {
    const [library] = peerCommand("libfaketime") ?? [];
    if (library === undefined) return undefined;
    return new Clock((file) => ({
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    }));
  }

  /** Of an etcd that was built for it; it is not installed if `etcd-with-clock` is not. */
  static ofEtcd(): Clock {
    return new Clock((file) => ({ XDS_CHAOS_CLOCK: file }));
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
