import { contentDigest } from "@xdskit/envoy-api";

/** Names that every file system takes as they are, and none takes for another one. */
const SAFE = /^[a-z0-9_][a-z0-9_.-]{0,98}[a-z0-9_-]$|^[a-z0-9_]$/;
const READABLE_CHARACTERS = 60;

/**
 * What a resource's name is called on disk, without the ending. A name of lower-case letters, digits, `.`, `_` and `-` stays as it
 * is; of any other one a readable beginning is kept, and a digest tells it apart: slashes and `..` lead nowhere, names that differ
 * in case only are two files everywhere, and no name is too long.
 */
export function fileNameOf(name: string): string {
  if (SAFE.test(name)) return name;
  const readable = name
    .slice(0, READABLE_CHARACTERS)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "_");
  return `${readable}~${contentDigest([name]).toString(16).padStart(32, "0")}`;
}
