/** A command as a completion script needs it. */
export interface CompletedCommand {
  readonly name: string;
  readonly says: string;
  /** The choices for its first argument. */
  readonly words: readonly string[];
  /** The kind of path that its first argument takes; undefined completes `words`. */
  readonly takes: "directory" | "file" | undefined;
  readonly options: readonly CompletedOption[];
}

/** An option as a completion script needs it. */
export interface CompletedOption {
  /** The long flag: `--server`. */
  readonly long: string;
  readonly short: string | undefined;
  readonly says: string;
  readonly choices: readonly string[];
  readonly takesValue: boolean;
  readonly isFile: boolean;
}
