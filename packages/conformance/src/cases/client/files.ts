import type { ClientCase } from "../../client-case.ts";

const ofClusters = {
  variant: "sotw",
  type: "cds",
  streams: ["file"],
  memoryOnly: "files are proved with the transport",
} as const;
const ofEndpoints = { ...ofClusters, type: "eds" } as const;

/** FS: files, which the machine sees as responses without requests or ACKs. */
export const fileCases: readonly ClientCase[] = [
  {
    id: "C-FS-07",
    also: ["C-FS-05", "B-ACK-16", "B-NON-11"],
    says: "takes a cluster that a file leaves out for gone",
    ...ofClusters,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { version: "X", resources: ["a@1", "b@1"] }, tells: { "*": ["a@1", "b@1", "synced"] } },
      { responds: { version: "Y", resources: ["b@2"] }, tells: { "*": ["a removed", "b@2"] } },
    ],
  },
  {
    id: "C-FS-07/named",
    says: "takes of a file of endpoints what is watched, and keeps what it leaves out",
    ...ofEndpoints,
    steps: [
      { watches: "a", opens: ["main"], asks: [{ names: ["a"], node: "n1" }] },
      { responds: { version: "X", resources: ["a@1", "b@1"] }, tells: { a: ["a@1"] } },
      { responds: { version: "Y" } },
      { watches: "a", as: "late", tells: { late: ["a@1"] } },
    ],
  },
  {
    id: "C-FS-06",
    also: ["C-FS-05"],
    says: "keeps everything when a file cannot be read, and takes the next one",
    ...ofClusters,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { version: "X", resources: ["a@1"] }, tells: { "*": ["a@1", "synced"] } },
      { garbles: "main", tells: { "*": ["rejected 3"] } },
      { watches: "*", as: "late", tells: { late: ["a@1", "synced"] } },
      { responds: { version: "Z", resources: ["a@2"] }, tells: { "*": ["a@2"], late: ["a@2"] } },
    ],
  },
  {
    id: "C-FS-08",
    says: "refuses a file with a resource of another type in it",
    ...ofClusters,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { version: "X", resources: [{ is: "a@1", type: "eds" }] }, tells: { "*": ["rejected 3"] } },
    ],
  },
  {
    id: "C-FS-12",
    says: "refuses the whole of a file that names a resource twice",
    ...ofClusters,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      { responds: { version: "X", resources: ["a@1", "b@1", "b@2"] }, tells: { "*": ["rejected 3"] } },
    ],
  },
  {
    id: "C-FS-13",
    says: "lets a resource of a file expire that says when",
    ...ofClusters,
    steps: [
      { watches: "*", opens: ["main"], asks: [{ node: "n1" }] },
      {
        responds: { version: "X", resources: [{ is: "a@1", version: "X", ttl: 1_000 }, "b@1"] },
        tells: { "*": ["a@1", "b@1", "synced"] },
      },
      { passes: 1_000, tells: { "*": ["a expired"] } },
    ],
  },
];
