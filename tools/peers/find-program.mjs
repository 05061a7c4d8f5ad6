import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of the first of these programs on the PATH; undefined if there is none. */
export function findProgram(names) {
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  return names
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find((file) => existsSync(file));
}
