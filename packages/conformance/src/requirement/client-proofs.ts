import type { Proof } from "./proofs.ts";

/** What of the client is proved outside the cases: transports, configuration, judging, what people see. */
export const clientProofs: readonly Proof[] = [
  {
    id: "C-TYP-11",
    test: "packages/client/test/rest.test.ts",
    name: "C-TYP-11 the source says which path, the type which resources",
  },
  {
    id: "B-GRP-08",
    test: "packages/client/test/rest.test.ts",
    name: "B-GRP-08 an answer that is too large",
  },
  {
    id: "B-DLT-01",
    test: "packages/client/test/file.test.ts",
    name: "B-ADS-07 B-DLT-01 there is no ADS and no delta over files",
  },
  {
    id: "B-DLT-01",
    test: "packages/client/test/rest.test.ts",
    name: "B-RST-05 B-ADS-07 B-DLT-01 what has no form in JSON is refused",
  },
  {
    id: "B-ADS-07",
    test: "packages/client/test/file.test.ts",
    name: "B-ADS-07 B-DLT-01 there is no ADS and no delta over files",
  },
  {
    id: "B-ADS-07",
    test: "packages/client/test/rest.test.ts",
    name: "B-RST-05 B-ADS-07 B-DLT-01 what has no form in JSON is refused",
  },
  {
    id: "B-LOC-04",
    test: "packages/protocol/src/resource/constraints.test.ts",
    name: "hold of the parameters that they are made of, and of who has more",
  },
  {
    id: "B-LOC-04",
    test: "packages/protocol/src/resource/constraints.test.ts",
    name: "B-LOC-04 constraints",
  },
  {
    id: "B-XTP-07",
    test: "packages/envoy-api/test/additions.test.ts",
    name: "B-XTP-07 entries of a list collection, locators and inline ones, are passed on as they are",
  },
  {
    id: "B-RST-01",
    test: "packages/client/test/rest.test.ts",
    name: "B-RST-01 B-RST-02 C-RST-08 a poll is a POST of a whole DiscoveryRequest in canonical JSON",
  },
  {
    id: "B-RST-02",
    test: "packages/client/test/rest.test.ts",
    name: "B-RST-01 B-RST-02 C-RST-08 a poll is a POST of a whole DiscoveryRequest in canonical JSON",
  },
  {
    id: "B-RST-02",
    test: "packages/client/test/rest.test.ts",
    name: "B-RST-02 an answer may have the names of JSON or of the proto file, and null",
  },
  {
    id: "B-RST-05",
    test: "packages/client/test/rest.test.ts",
    name: "B-RST-05 B-ADS-07 B-DLT-01 what has no form in JSON is refused",
  },
  {
    id: "C-RST-15",
    test: "packages/client/test/rest.test.ts",
    name: "C-RST-15 between two polls lie the delay and up to as much again",
  },
  {
    id: "C-RST-16",
    test: "packages/client/test/rest.test.ts",
    name: "C-RST-16 a server that hangs is a failure when the time is over",
  },
  {
    id: "C-FS-02",
    test: "packages/client/test/file.test.ts",
    name: "C-FS-02 C-FS-09 a change is seen within a second",
  },
  {
    id: "C-FS-03",
    test: "packages/client/test/file.test.ts",
    name: "C-FS-03 C-FS-04 the end of the name says how a file is written",
  },
  {
    id: "C-FS-04",
    test: "packages/client/test/file.test.ts",
    name: "C-FS-03 C-FS-04 the end of the name says how a file is written",
  },
  {
    id: "C-FS-09",
    test: "packages/cli/test/file.test.ts",
    name: "C-FS-09 follows a file that is renamed over, and one that is written in place",
  },
  {
    id: "C-FS-09",
    test: "packages/client/test/file.test.ts",
    name: "C-FS-02 C-FS-09 a change is seen within a second",
  },
  {
    id: "C-FS-10",
    test: "packages/cli/test/file.test.ts",
    name: "C-FS-10 follows a link that is swapped, as Kubernetes does it",
  },
  {
    id: "C-FS-10",
    test: "packages/client/test/file.test.ts",
    name: "C-FS-10 with a watched directory, only what is moved into it counts",
  },
  {
    id: "C-FS-11",
    test: "packages/client/test/file.test.ts",
    name: "C-FS-11 a file that is not there",
  },
  {
    id: "C-FS-16",
    test: "packages/client/test/file.test.ts",
    name: "C-FS-16 the files that a Secret names",
  },
  {
    id: "B-MSC-09",
    test: "packages/client/test/rest.test.ts",
    name: "B-MSC-09 fields that nobody here knows are passed over",
  },
  {
    id: "E32",
    test: "packages/client/test/file.test.ts",
    name: "C-FS-02 C-FS-09 a change is seen within a second",
  },
  {
    id: "E32",
    test: "packages/client/test/file.test.ts",
    name: "with isMoveOnly, only moves count",
  },
];
