import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { AccessRules } from "@xdskit/protocol";
import { settingsFile } from "../layout.ts";
import { hasErrors, type Problem } from "../problem.ts";
import { noSettings, readSettingsFile, type SettingsContent } from "../settings/settings-file.ts";
import { problem } from "./file-system-problem.ts";
import { OutgrownError } from "./outgrown-error.ts";
import { type FileReading, isTooLarge, readSettledFile, type SizeLimit } from "./read-file.ts";
import { isYamlCut, UnfinishedFiles } from "./unfinished-files.ts";

/** `changing`: the file seems to be half written, and is to be read again before its content is used. */
export type SettingsChange = "changed" | "same" | "changing";

/** The pause before a file that seems to be half written is read again. */
const RETRY_MS = 50;
const MAX_SETTINGS_BYTES = 64 * 1024 ** 2;

/**
 * The settings of a directory, followed while `xdskit.yaml` changes. They may hold access rules, so a file that is gone,
 * cut or has lost a rule is not used until it has been so for 500 ms, and an empty one is a problem.
 */
export class FollowedSettings {
  readonly #path: string;
  readonly #limit: SizeLimit;
  readonly #unfinished = new UnfinishedFiles();
  #stamp: string | undefined;
  #isThere = false;
  #content = noSettings;
  /** What was read last without an error. */
  #good = noSettings;

  /** If the file has more than `maxTotalBytes`, but not more than settings may have, reading throws `OutgrownError`. */
  constructor(directory: string, maxTotalBytes: number = Number.POSITIVE_INFINITY) {
    this.#path = join(directory, settingsFile);
    const maxBytes = Math.min(MAX_SETTINGS_BYTES, maxTotalBytes);
    this.#limit = { maxBytes, hint: "make it smaller; limits.max-file-bytes does not apply to it" };
  }

  get content(): SettingsContent {
    return this.#content;
  }

  /** Undefined if there is no file, or its stamp could not be taken. */
  get stamp(): string | undefined {
    return this.#stamp;
  }

  get isThere(): boolean {
    return this.#isThere;
  }

  /** Notes that the file is as it was read. */
  keep(): "same" {
    this.#unfinished.forget(settingsFile);
    return "same";
  }

  /** Reads the file. While it seems to be half written, what was read before stays. */
  async refresh(): Promise<SettingsChange> {
    const reading = await readSettledFile(this.#path, settingsFile, this.#limit);
    if (isTooLarge(reading) && this.#limit.maxBytes < MAX_SETTINGS_BYTES) throw new OutgrownError();
    const isThere = reading.kind !== "gone";
    const stamp = isThere ? reading.stamp : undefined;
    if (isThere ? stamp !== undefined && stamp === this.#stamp : !this.#isThere) return this.keep();
    const content = this.#contentOf(reading);
    if (this.#seemsUnfinished(reading, content) && this.#unfinished.mayGrow(settingsFile, stamp)) return "changing";
    this.#unfinished.forget(settingsFile);
    this.#stamp = stamp;
    this.#isThere = isThere;
    this.#content = content;
    if (!hasErrors(content.problems)) this.#good = content;
    return "changed";
  }

  /** Reads the file until it does not seem to be half written, or until the signal. */
  async settle(signal: AbortSignal): Promise<SettingsContent> {
    while ((await this.refresh()) === "changing" && !signal.aborted) await sleep(RETRY_MS);
    return this.#content;
  }

  #contentOf(reading: FileReading): SettingsContent {
    if (reading.kind === "refused") return { ...noSettings, problems: [reading.problem] };
    if (reading.kind !== "read") return noSettings;
    const content = readSettingsFile(reading.bytes);
    const isEmptied = content === noSettings && this.#good !== noSettings;
    return isEmptied ? { ...noSettings, problems: [emptied()] } : content;
  }

  #seemsUnfinished(reading: FileReading, content: SettingsContent): boolean {
    if (this.#good === noSettings || reading.kind === "refused") return false;
    if (reading.kind !== "read" || isYamlCut(reading.bytes)) return true;
    return !hasErrors(content.problems) && losesAccess(this.#good.access, content.access);
  }
}

/** Whether access rules lack anything that was in the former ones. */
function losesAccess(before: AccessRules | undefined, now: AccessRules | undefined): boolean {
  if (before === undefined) return false;
  if (now === undefined) return true;
  const losesLoopback = before.loopback !== undefined && before.loopback !== now.loopback;
  return losesLoopback || !before.rules.every((rule) => now.rules.some((other) => isDeepStrictEqual(rule, other)));
}

/** The problem of a file that had settings: it was probably truncated for a write, and must not remove access rules. */
function emptied(): Problem {
  return problem("FILE_EMPTY", settingsFile, "expected settings, as there were before, got an empty file", {
    hint: 'delete the file, or write "{}" to say that it holds none',
  });
}
