import type { Requirement } from "./requirement.ts";

/** FS: files for filesystem subscriptions. */
export const fileRequirements: readonly Requirement[] = [
  {
    id: "S-FS-14",
    level: "must",
    scope: "files",
    says: "A file is written beside the one it replaces, flushed, and renamed over it: no reader ever sees a part of one.",
    amended: "It is also read again before the rename, because half of a binary message may be a whole one.",
  },
  {
    id: "S-FS-15",
    level: "must",
    scope: "files",
    says: "Files are written as binary, JSON, YAML and text, each with its type and with a version that changes if and only if its content does.",
  },
];
