import type { Requirement } from "../requirement.ts";

/** ERR: resource errors. */
export const errorRules: readonly Requirement[] = [
  {
    id: "C-ERR-06",
    level: "must",
    scope: "everywhere",
    says: "An error that a server tells of a name ends the wait for it, and is remembered until another error or the resource comes.",
  },
  {
    id: "C-ERR-07",
    level: "must",
    scope: "everywhere",
    says: "NOT_FOUND and PERMISSION_DENIED concern the data; any other code passes, and what is held stays.",
  },
  {
    id: "C-ERR-08",
    level: "must",
    scope: "everywhere",
    says: "NOT_FOUND is as if the time for the name were over.",
  },
  {
    id: "C-ERR-09",
    level: "may",
    scope: "everywhere",
    says: "What is held stays in use when an update is refused, when it is deleted, and when the data are in error; `failOnDataErrors` drops it.",
  },
  {
    id: "C-ERR-10",
    level: "may",
    scope: "everywhere",
    says: "A name that nobody answers for can count as one that cannot be reached, after 30 s (`timerIsTransient`).",
  },
  {
    id: "C-ERR-11",
    level: "must",
    scope: "everywhere",
    says: "A response with nothing but errors is acknowledged.",
  },
  {
    id: "B-ERR-12",
    level: "must",
    scope: "everywhere",
    says: "An error is never that of the wildcard; it may be that of a glob collection.",
  },
  {
    id: "C-ERR-13",
    level: "must",
    scope: "everywhere",
    says: "The state of such a name says that an error was received.",
  },
];
