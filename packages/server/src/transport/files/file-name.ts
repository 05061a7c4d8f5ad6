import { contentDigest } from "@xdskit/envoy-api";

/** Names that are valid and distinct on every file system. */
const SAFE = /^[a-z0-9_][a-z0-9_.-]{0,98}[a-z0-9_-]$|^[a-z0-9_]$/;
const READABLE_CHARACTERS = 60;

/**
 * The file name of a resource, without extension. A name of lower-case letters, digits, `.`, `_` and `-` is kept; any
 * other keeps a readable start and gets a digest, so that slashes and `..` are harmless, names that differ only in case
 * differ everywhere, and no name is too long.
 */
export function fileNameOf(name: string): string {
  if (SAFE.test(name)) return name;
  const readable = name
    .slice(0, READABLE_CHARACTERS)
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, "_");
  return `${readable}~${contentDigest([name]).toString(16).padStart(32, "0")}`;
}
