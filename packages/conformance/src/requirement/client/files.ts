import type { Requirement } from "../requirement.ts";

/** FS: files. */
export const filesRules: readonly Requirement[] = [
  {
    id: "C-FS-01",
    level: "must",
    scope: "files",
    says: "A source is a file by either of the fields that can name one.",
  },
  {
    id: "C-FS-02",
    level: "must",
    scope: "files",
    says: "The file is read at the start and whenever it changes.",
  },
  {
    id: "C-FS-03",
    level: "must",
    scope: "files",
    says: "Binary, JSON, YAML and text are read.",
  },
  {
    id: "C-FS-04",
    level: "must",
    scope: "files",
    says: "The end of the file's name says which; JSON if nothing else does.",
  },
  {
    id: "C-FS-05",
    level: "must",
    scope: "files",
    says: "Whether a file was taken is seen in counters and logs only.",
  },
  {
    id: "C-FS-06",
    level: "must",
    scope: "files",
    says: "A file that cannot be used leaves everything as it was.",
  },
  {
    id: "C-FS-07",
    level: "must",
    scope: "files",
    says: "Listeners and Clusters that a file leaves out are gone; of other types only what is watched is taken, and nothing is ever gone.",
  },
  {
    id: "C-FS-08",
    level: "must",
    scope: "files",
    says: "The type of each resource must be the one that is watched, and that of the file too if it says one.",
  },
  {
    id: "C-FS-09",
    level: "must",
    scope: "files",
    says: "A file that is moved into place counts, and so does one that is written, a moment later.",
    amended: "`fsMoveOnly` leaves only the move.",
  },
  {
    id: "C-FS-10",
    level: "must",
    scope: "files",
    says: "Of a watched directory any move counts, and the file itself is not watched.",
  },
  {
    id: "C-FS-11",
    level: "must",
    scope: "files",
    says: "A file that is not there at the start is a mistake in the configuration; one that is deleted later is a failed update.",
  },
  {
    id: "C-FS-12",
    level: "must",
    scope: "files",
    says: "A name twice, a broken rule or an unreadable body refuses the whole file.",
  },
  {
    id: "C-FS-13",
    level: "must",
    scope: "files",
    says: "Wrappers are taken off, and their ttls are kept.",
  },
  {
    id: "C-FS-16",
    level: "must",
    scope: "files",
    says: "With a Secret the files that it names are watched.",
  },
];
