/** A named test that proves what no case can: limits, pings, shutdown, observability. */
export interface Proof {
  readonly id: string;
  /** The test file, relative to the repository. */
  readonly test: string;
  /** The name of the test or of its `describe`, or the part of it that the file contains. */
  readonly name: string;
}

/** Whether the text of a file contains the test or `describe`. */
export function isWrittenIn(text: string, { name }: Proof): boolean {
  return text.includes(`test("${name}"`) || text.includes(`describe("${name}"`);
}

const files = "packages/server/test/files/export.test.ts";
const wire = "packages/server/test/wire";
const rest = "packages/server/test/wire/rest.test.ts";
const jsonRequest = "packages/envoy-api/src/wire/json-request.test.ts";
const admin = "packages/server/test/admin";
const dialect = "packages/protocol/src/dialect/ttl.test.ts";
const clientStatus = `${wire}/client-status.test.ts`;
const loadReports = `${wire}/load-reports.test.ts`;
const problems = "packages/envoy-api/test/problems.test.ts";
const checks = "packages/conformance/test/checks.test.ts";

/** Proofs outside the cases. */
export const proofs: readonly Proof[] = [
  { id: "S-FS-14", test: files, name: "S-FS-14 a reader that loops over 1000 rewrites never fails to parse" },
  {
    id: "S-FS-15",
    test: files,
    name: "S-FS-15 every file is a DiscoveryResponse with version and type that holds the same resources",
  },
  {
    id: "S-FS-15",
    test: files,
    name: "S-FS-15 the version changes if and only if the content does, and only then is the file touched",
  },
  {
    id: "B-ACK-16",
    test: files,
    name: "B-ACK-16 what depends on a file is written when its readers had time to take it",
  },
  { id: "B-GEN-01", test: files, name: "B-GEN-01 every type but those of delta has its files, in v3 and in v2" },
  {
    id: "B-GEN-01",
    test: `${wire}/every-cell.test.ts`,
    name: "B-GEN-01 there are sixty cells of streams: eight types, two versions, four streams, less four of VHDS",
  },
  {
    id: "S-CFG-10",
    test: "packages/cli/test/bootstrap.test.ts",
    name: "S-CFG-10 every cell of transport and version is printed, and is a bootstrap by that version's descriptors",
  },
  {
    id: "S-CFG-10",
    test: "test/e2e/envoy-bootstrap.test.ts",
    name: "S-CFG-10 an Envoy starts from files, and follows them when they are replaced",
  },
  { id: "B-TYP-01", test: checks, name: "B-TYP-01 every type that cases speak of is in Envoy's API under that name" },
  { id: "S-GRP-01", test: checks, name: "S-GRP-01 every streaming method answers on its path" },
  { id: "S-GRP-02", test: checks, name: "S-GRP-02 scoped routes are served under the spelling of the documents too" },
  { id: "E25", test: checks, name: "B-TYP-01 every type that cases speak of is in Envoy's API under that name" },
  { id: "E26", test: checks, name: "S-GRP-02 scoped routes are served under the spelling of the documents too" },
  {
    id: "S-TYP-10",
    test: "packages/server/src/hub/api-version-converter.test.ts",
    name: "S-TYP-10 each version of a layer is what was given in it over what the other is converted to, after any transactions",
  },
  {
    id: "S-TYP-10",
    test: `${wire}/v2.test.ts`,
    name: "once for each change, however many clients there are, and nothing before the first asks",
  },
  { id: "S-TYP-09", test: `${wire}/v2.test.ts`, name: "State of the World, by ADS and by type" },
  { id: "B-TTL-18", test: dialect, name: "B-TTL-18 the ttl of a resource of v2 is left off for everybody" },
  { id: "B-TTL-19", test: problems, name: "B-TTL-19 a ttl that is none" },
  { id: "B-RST-01", test: rest, name: "B-RST-01 a poll is answered with a whole DiscoveryResponse" },
  { id: "B-RST-05", test: rest, name: "B-RST-05 B-ADS-07 B-DLT-01 what has no form in REST is 404 with the reason" },
  { id: "B-ADS-07", test: rest, name: "B-RST-05 B-ADS-07 B-DLT-01 what has no form in REST is 404 with the reason" },
  { id: "B-DLT-01", test: rest, name: "B-RST-05 B-ADS-07 B-DLT-01 what has no form in REST is 404 with the reason" },
  { id: "S-RST-11", test: rest, name: "S-RST-11 a client that goes away frees its poll" },
  { id: "S-RST-11", test: rest, name: "S-RST-11 Envoy says how long it waits, and 80 % of that are used" },
  {
    id: "S-RST-19",
    test: rest,
    name: "S-RST-19 every wrong request has its status, and a body that says what is wrong",
  },
  { id: "S-RST-19", test: rest, name: "S-RST-19 a body that is too long is 413, announced or not" },
  { id: "S-RST-19", test: rest, name: "S-RST-19 before there is something to serve: 503" },
  { id: "S-RST-19", test: rest, name: "S-RST-19 one bad resource is a 500 for who asks for it, and for nobody else" },
  { id: "B-RST-21", test: rest, name: "B-RST-21 the colon may be escaped, and a query is passed over" },
  { id: "T-I1", test: jsonRequest, name: "a poll as an Envoy sends it is read, and its extensions are not" },
  { id: "T-I5", test: rest, name: "S-RST-11 Envoy says how long it waits, and 80 % of that are used" },
  { id: "B-RST-02", test: jsonRequest, name: "B-RST-02 both spellings, null and unknown fields are read alike" },
  {
    id: "S-GRP-05",
    test: `${wire}/calls.test.ts`,
    name: "a half-close ends it with OK, after what was asked is answered",
  },
  { id: "S-GRP-05", test: `${wire}/calls.test.ts`, name: "200 streams, closed or cancelled, leave nothing behind" },
  { id: "T-F3", test: `${wire}/calls.test.ts`, name: "200 streams, closed or cancelled, leave nothing behind" },
  {
    id: "S-GRP-06",
    test: `${wire}/lifecycle.test.ts`,
    name: "GOAWAY at once, then streams end with UNAVAILABLE, one after the other, then connections",
  },
  {
    id: "S-GRP-07",
    test: `${wire}/slow-reader.test.ts`,
    name: "S-GRP-07 a client that does not read hurts nobody, costs no history, and gets the newest in the end",
  },
  {
    id: "B-GRP-08",
    test: `${wire}/slow-reader.test.ts`,
    name: "B-GRP-08 a state of 20 MiB reaches a client that reads",
  },
  { id: "B-GRP-08", test: `${wire}/calls.test.ts`, name: "B-GRP-08 one that is too long ends with RESOURCE_EXHAUSTED" },
  { id: "B-GRP-08", test: checks, name: "B-GRP-08 a request of 8 MiB is read" },
  {
    id: "S-DLT-16",
    test: checks,
    name: "S-DLT-16 Envoy is told of an unknown virtual host by a resource that is its own alias",
  },
  { id: "S-RES-08", test: checks, name: "S-RES-08 a large delta answer loses nothing when a part of it is refused" },
  { id: "S-RES-16", test: checks, name: "S-RES-16 responses of both variants name the control plane" },
  {
    id: "S-CON-02",
    test: `${wire}/lifecycle.test.ts`,
    name: "S-CON-02 forty quick PINGs are answered, without GOAWAY",
  },
  {
    id: "S-CON-03",
    test: `${wire}/lifecycle.test.ts`,
    name: "S-CON-03 an old connection is asked to go, and its streams end",
  },
  {
    id: "S-CON-03",
    test: `${wire}/lifecycle.test.ts`,
    name: "a client that does not answer PINGs is dropped, and its state freed",
  },
  {
    id: "S-ORD-09",
    test: "packages/source/test/load.test.ts",
    name: "S-ORD-09 a route to a cluster that does not exist is told",
  },
  {
    id: "S-ACC-01",
    test: "packages/protocol/src/access/compile-access.test.ts",
    name: "S-ACC-01: rules decide as a plain reading of each of them does",
  },
  {
    id: "S-ACC-02",
    test: "packages/protocol/src/access/compile-access.test.ts",
    name: "S-ACC-02: adding an allow rule never widens what a deny rule denied, and a deny rule never allows",
  },
  {
    id: "S-ACC-03",
    test: "packages/protocol/src/access/compile-access.test.ts",
    name: "S-ACC-03: an identity is what a verified certificate says, each name as its own kind",
  },
  {
    id: "S-ACC-04",
    test: "packages/server/src/hub/hub.test.ts",
    name: "S-ACC-04: a client without an identity that is not on loopback",
  },
  {
    id: "S-ACC-05",
    test: "packages/protocol/src/access/compile-access.test.ts",
    name: "S-ACC-05: every mistake in rules is told with its path",
  },
  {
    id: "S-ACC-06",
    test: "packages/protocol/test/access.test.ts",
    name: "S-ACC-06: what is not granted is as if it did not exist, before and after any change",
  },
  {
    id: "S-ACC-07",
    test: "packages/protocol/test/access.test.ts",
    name: "S-ACC-07: a change of access moves a stream without ending it",
  },
  {
    id: "S-ACC-08",
    test: "packages/protocol/test/access.test.ts",
    name: "S-ACC-08: a client that may not be its node is refused, and the operator is told why",
  },
  {
    id: "S-ACC-20",
    test: "packages/server/test/wire/access-entry-points.test.ts",
    name: "S-ACC-20 every entry point is decided by the rules",
  },
  {
    id: "S-ACC-21",
    test: "packages/protocol/src/access/compile-access.test.ts",
    name: "S-ACC-21: a rule that is told to be idle decides nothing",
  },
  {
    id: "S-OBS-02",
    test: `${admin}/metrics.test.ts`,
    name: "S-OBS-02 streams, requests, responses, ACKs and NACKs are counted by type",
  },
  {
    id: "S-OBS-02",
    test: `${admin}/log.test.ts`,
    name: "S-OBS-02 a NACK is a warning with node, type and reason; at most one in ten seconds, the rest are counted",
  },
  { id: "S-OBS-03", test: `${wire}/listeners.test.ts`, name: "S-OBS-03 tells what happens to a stream, with the time" },
  {
    id: "B-OBS-04",
    test: `${admin}/admin-api.test.ts`,
    name: "S-ACK-13, A14 a refusal is told with its reason and names, made printable and cut, until something is accepted",
  },
  {
    id: "B-OBS-04",
    test: clientStatus,
    name: "S-CSD-02 goes from STALE to SYNCED with the ACK, over ERROR with the refused resource after a NACK",
  },
  {
    id: "S-CSD-01",
    test: clientStatus,
    name: "S-CSD-01 is that of every client without matchers, each with its streams together",
  },
  { id: "S-CSD-01", test: clientStatus, name: "a stream gets one answer for each request, in order" },
  {
    id: "S-CSD-02",
    test: clientStatus,
    name: "S-CSD-02 goes from STALE to SYNCED with the ACK, over ERROR with the refused resource after a NACK",
  },
  {
    id: "S-CSD-02",
    test: clientStatus,
    name: "S-CSD-02 is NOT_SENT for a name that does not exist, and for what waits",
  },
  {
    id: "B-CSD-04",
    test: clientStatus,
    name: "B-CSD-04 leaves contents out on request, and tells clients of one id apart",
  },
  {
    id: "B-CSD-05",
    test: clientStatus,
    name: "B-CSD-05 of v2 has a part for each of four types, and knows neither endpoints nor the status of clients",
  },
  {
    id: "S-LRS-02",
    test: loadReports,
    name: "S-LRS-02 S-LRS-03 the first message is answered: all clusters where that is understood, else those of the view",
  },
  { id: "S-LRS-02", test: loadReports, name: "S-LRS-02 can be changed while clients report: they are told" },
  {
    id: "S-LRS-03",
    test: loadReports,
    name: "S-LRS-02 S-LRS-03 the first message is answered: all clusters where that is understood, else those of the view",
  },
  { id: "S-LRS-06", test: loadReports, name: "S-LRS-06 are added up by cluster, service and locality" },
  {
    id: "B-HDS-01",
    test: `${wire}/health-discovery.test.ts`,
    name: "B-HDS-01 a client offers itself, is told what to check, tells what it found, and is told what changed",
  },
  {
    id: "B-HDS-01",
    test: `${wire}/health-discovery.test.ts`,
    name: "B-HDS-01 a request is answered with what to check, and what was found is heard",
  },
  { id: "T-B8", test: checks, name: "T-B8 a burst of growing requests gets few answers and all resources" },
  { id: "T-B9", test: `${wire}/lifecycle.test.ts`, name: "a stream ends with UNAVAILABLE and says why" },
  {
    id: "S-LOC-08",
    test: "packages/source/test/variants.test.ts",
    name: "S-LOC-08 are refused where a client could be meant to have two, with both places",
  },
  {
    id: "S-LOC-08",
    test: `${wire}/client-features.test.ts`,
    name: "S-LOC-08 a transaction that makes a name ambiguous is refused whole",
  },
  {
    id: "B-XTP-07",
    test: "packages/envoy-api/test/additions.test.ts",
    name: "B-XTP-07 entries of a list collection, locators and inline ones, are passed on as they are",
  },
  {
    id: "S-XTP-10",
    test: `${wire}/client-features.test.ts`,
    name: "S-XTP-10 a locator is sent in the place of a member of a glob, and not read in that of the glob",
  },
  {
    id: "S-MSC-04",
    test: `${wire}/client-features.test.ts`,
    name: "S-MSC-04 a client that takes structs only is given what was converted, once for all such clients",
  },
  {
    id: "S-MSC-05",
    test: `${wire}/client-features.test.ts`,
    name: "S-MSC-05 a node mapping sees that a client does not support overprovisioning",
  },
  {
    id: "B-MSC-09",
    test: "packages/envoy-api/test/additions.test.ts",
    name: "B-MSC-09 fields that nobody knows, in a resource and in its metadata, reach the client",
  },
];
