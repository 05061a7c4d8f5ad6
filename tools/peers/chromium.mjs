import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The path of a Chromium on the PATH; undefined if there is none. */
export function findChromium() {
  const directories = (process.env["PATH"] ?? "").split(delimiter);
  const names = ["chromium", "chromium-browser", "google-chrome"];
  return names
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find((file) => existsSync(file));
}
