/** A command as a completion script needs it. */
export interface CompletedCommand {
  readonly name: string;
  readonly says: string;
  readonly takes: readonly CompletedArgument[];
  readonly options: readonly CompletedOption[];
}

/** An argument as a completion script needs it. */
export interface CompletedArgument {
  readonly name: string;
  /** Its choices. */
  readonly words: readonly string[];
  /** The kind of path that it takes: `source` is a directory or a module. */
  readonly path: "source" | "file" | undefined;
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

/** The flags that take a value. */
export function valuedFlags(options: readonly CompletedOption[]): readonly string[] {
  return options.filter(({ takesValue }) => takesValue).flatMap(spellings);
}

/** Both flags of an option. */
export function spellings({ long, short }: CompletedOption): readonly string[] {
  return short === undefined ? [long] : [long, short];
}
