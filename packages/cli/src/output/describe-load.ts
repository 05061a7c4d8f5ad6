import type { Progress } from "@xdskit/source";

/** How far the load of a directory is. */
export function describeLoad({ filesRead, filesTotal, resources }: Progress): string {
  const share = filesTotal === 0 ? 0 : Math.floor((filesRead / filesTotal) * 100);
  return `reading ${filesRead} of ${filesTotal} files (${share} %), ${resources.toLocaleString("en")} resources`;
}
