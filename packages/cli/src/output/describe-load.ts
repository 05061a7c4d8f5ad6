import type { Progress } from "@xdskit/source";

/** Describes the progress of a load. */
export function describeLoad({ filesRead, filesTotal, resources }: Progress): string {
  const share = filesTotal === 0 ? 0 : Math.floor((filesRead / filesTotal) * 100);
  return `reading ${filesRead} of ${filesTotal} files (${share} %), ${resources.toLocaleString("en")} resources`;
}
