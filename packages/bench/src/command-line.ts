import { type ParseArgsConfig, parseArgs } from "node:util";

/** The options of this process. `--help` prints the usage; an unknown option or a wrong number ends the process with it. */
export function readOptions<T extends NonNullable<ParseArgsConfig["options"]>>(
  usage: string,
  options: T,
): ReturnType<typeof parseArgs<{ options: T; strict: true }>>["values"] {
  if (process.argv.includes("--help")) {
    process.stdout.write(`${usage}\n`);
    process.exit();
  }
  try {
    return parseArgs({ options, strict: true }).values;
  } catch (cause) {
    return endWith(cause instanceof Error ? cause.message : String(cause), usage);
  }
}

/** A number that an option gives, greater than zero. */
export function positive(usage: string, name: string, text: string): number {
  const number = Number(text);
  return number > 0
    ? number
    : endWith(`--${name}: expected a number greater than 0, got ${JSON.stringify(text)}`, usage);
}

/** A seed that an option gives; one by the clock otherwise. */
export function seedFrom(usage: string, text: string | undefined): number {
  const seed = text === undefined ? Date.now() % 2 ** 31 : Number(text);
  return Number.isInteger(seed) ? seed : endWith(`--seed: expected an integer, got ${JSON.stringify(text)}`, usage);
}

function endWith(message: string, usage: string): never {
  process.stderr.write(`${message}\n${usage}\n`);
  process.exit(2);
}
