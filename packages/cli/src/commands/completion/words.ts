/** A command, as a shell completes it. */
export interface CompletedCommand {
  readonly name: string;
  readonly says: string;
  /** What its first argument may be. */
  readonly words: readonly string[];
  /** Undefined: its words. */
  readonly takes: "directory" | "file" | undefined;
  readonly options: readonly CompletedOption[];
}

/** An option, as a shell completes it. */
export interface CompletedOption {
  /** `--server`. */
  readonly long: string;
  readonly short: string | undefined;
  readonly says: string;
  readonly choices: readonly string[];
  readonly takesValue: boolean;
  readonly isFile: boolean;
}
