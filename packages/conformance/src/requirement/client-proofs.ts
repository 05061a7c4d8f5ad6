import type { Proof } from "./proofs.ts";

/** A test by its name: it proves the requirements in its name and the ones listed. */
type NamedTest = string | readonly [name: string, ...besides: readonly string[]];

/** Tests by their files, relative to the repository. */
const tests: Readonly<Record<string, readonly NamedTest[]>> = {
  "packages/client/src/config/envoy-bootstrap.test.ts": [
    "C-NOD-08 a plain node says all there is; what is left over stays in the bytes",
    "C-NOD-08 the client's name is added where the bootstrap has none",
    "C-XTP-12 node_context_params: fields of the node, and its metadata one by one",
    "C-XTP-12 a locator stands for everything, from lds_config or from the source of its authority",
    "C-CFG-04 gRPC over a cluster of HTTP/1.1 is warned of",
    "C-CFG-04 a cluster that nobody asks may be what it likes, and is no server",
    "C-CFG-04 TLS by files, by contents, and of v2",
    "C-CFG-04 TLS with secrets of the bootstrap; others would have to be asked for",
    "C-CFG-08 what a service says goes to its server: metadata, sizes, back-off, Google's library",
  ],
  "packages/client/src/config/grpc-bootstrap.test.ts": [
    "C-XTP-08 a gRPC client has no default for authorities that it does not know, only for names without one",
    "C-CFG-09 servers, credentials, features, the node and authorities; what is not known is passed over",
    "C-CFG-09 what the bootstrap cannot say comes from defaults",
    "C-CFG-09 the first credentials that are known",
    "C-CFG-09 mistakes are told at once",
    "C-FBK-02 servers that are spoken to otherwise are warned of",
  ],
  "packages/client/src/config/load-bootstrap.test.ts": [
    ["C-TYP-11 hosts of v2 beside versions of v3, as releases of both took them", "B-TYP-08"],
    "C-FS-11 a path that is missing is a mistake",
    "C-CFG-01 a file that is not there, and one that is cut off",
    ["C-CFG-03 that of 2018: hosts, a Duration as an object, one service where a list is meant", "E27"],
    ["C-CFG-03 those of 2020: the same with TCP keepalive, in delta", "E27"],
    "C-CFG-03 lenientBootstrap off: what is no JSON of these messages is refused",
    "C-CFG-03 the place of a mistake inside one object where a list is meant",
    "C-CFG-05 the server's cluster may come after others",
    ["C-CFG-06 those of today: STRICT_DNS, V3 throughout, pings every 30 s that wait 5 s, TCP keepalive", "C-CON-01"],
  ],
  "packages/client/src/config/resolve-config-source.test.ts": [
    ["C-TYP-11 AUTO is the version of the message, or what autoVersion says", "E31"],
    "C-ADS-02 ads anywhere is the one stream, whatever it says of waiting and versions",
    "C-ADS-06 a client that is no proxy is sent to ads or self only",
    "B-ADS-07 there is no ADS over REST",
    "C-XTP-03, C-XTP-12 a name goes out without directives, with the node's parameters",
    "C-XTP-08 the peer's authorities, then config_sources in order, then the default, else nothing",
    "C-XTP-09 the stream for two authorities at equal sources is one, at others there are two",
    "C-XTP-11 alternatives follow the name, each at its own source",
    "C-RST-15, C-RST-16 a delay, and a timeout of 1 s unless set",
    "C-FS-01 path and path_config_source; C-FS-10 a watched directory; C-FS-09 moves only",
    "C-FS-11 a missing file, or a missing directory, is a mistake",
    "C-CFG-01 ads without an ads_config is a mistake",
    "C-CFG-02 self is where the resource came from",
    "C-CFG-02 a source of its own, with the defaults of Envoy",
    "C-CFG-02 equal sources are one: as JSON in any spelling, as bytes, with defaults said or not",
    "C-CFG-02 what differs in anything is another one",
    "C-CFG-08 several services take turns; C-FBK-03 on an aggregated stream the second is for when the first fails",
  ],
  "packages/client/src/observe/stats.test.ts": ["C-OBS-01 each counter moves in its case, once"],
  "packages/client/src/reading/response-reader.test.ts": [
    "C-TYP-12 a resource of another type makes the whole response invalid",
    "C-TYP-14 a twin is taken only where that was switched on, and read as what was asked for",
    "B-TTL-18 a wrapper of v2 has no ttl",
    "B-TTL-19 a ttl that is not more than 0 is refused, with a body or without",
    "C-FS-08 a response without a type is of the type of its stream",
    ["C-VAL-01 the rules of the descriptors are applied unless that is switched off", "B-VAL-04", "E33"],
    "C-VAL-02 C-MSC-06 each may refuse a resource, by what it says or throws, and all reasons are told",
    "C-VAL-02 one may take its time",
    "C-VAL-05 what cannot be read is refused, and the others are looked at",
  ],
  "packages/client/test/client-life.test.ts": ["C-CLI-06 what is kept"],
  "packages/client/test/client-peers.test.ts": [
    "C-DLT-06 C-TYP-12 delta: a resource of another type is refused",
    "C-TYP-13 what was never asked for is passed over: no answer, and nothing of it is told",
    "C-VAL-05 all that is wrong with a response is in one refusal",
  ],
  "packages/client/test/client.test.ts": [
    "B-GEN-01 what there is, changes and is removed is told",
    "C-NOD-08 C-TTL-03 the node says what the client is and can do",
  ],
  "packages/client/test/file.test.ts": [
    "B-ADS-07 B-DLT-01 there is no ADS and no delta over files",
    ["C-FS-02 C-FS-09 a change is seen within a second", "E32"],
    "C-FS-03 C-FS-04 the end of the name says how a file is written",
    "C-FS-06 what cannot be read is told, and what follows counts",
    "C-FS-07 what is wanted is told again if it is other than before",
    "C-FS-10 with a watched directory, only what is moved into it counts",
    "C-FS-11 a file that is not there",
    "C-FS-13 entries may be wrapped",
    "C-FS-16 the files that a Secret names",
    ["with isMoveOnly, only moves count", "E32"],
  ],
  "packages/client/test/grpc-transport.test.ts": [
    [
      "C-GRP-09 C-TYP-11 the method is picked by the version of the transport, the variant and the type",
      "B-DLT-18",
      "C-ADS-03",
    ],
    "C-GRP-09 a type without a method of its own is told to be so",
    "B-GRP-08 a response over the limit ends the stream with RESOURCE_EXHAUSTED, one of 20 MiB under it is taken",
  ],
  "packages/client/test/health.test.ts": [
    "B-HDS-01 it offers itself, is told what to check, tells what it finds, round by round, and what changes",
    "B-HDS-01 in v2 it is one list",
  ],
  "packages/client/test/lists.test.ts": [
    "B-XTP-07 is told by its members, in it and elsewhere, as they change",
    "B-XTP-07 C-XTP-12 stands in the place of everything, in watches and in the mesh of a proxy",
    "C-XTP-11 an alternative is asked for while the authority of a name cannot be reached",
  ],
  "packages/client/test/load.test.ts": [
    "C-LRS-01 a cluster says where it wants its load to be reported",
    "C-LRS-05 C-LRS-07 a server that goes and comes back gets what was counted since it left; then nothing twice",
  ],
  "packages/client/test/mesh-on-demand.test.ts": [
    "C-VHD-02 a virtual host is fetched for the first request that needs it",
    "C-ODC-01 a cluster that nothing refers to is there once it was asked for, one that does not exist is absent, silence ends",
  ],
  "packages/client/test/mesh-sources.test.ts": [
    "C-CFG-02 C-SUB-21 a proxy takes endpoints from another server, and the routes of scopes from where its Listener says",
    "C-ADS-06 a client with a bootstrap of gRPC refuses sources other than ads",
  ],
  "packages/client/test/mesh.test.ts": [
    "C-SUB-21 a Listener is resolved to its routes, their clusters and endpoints",
    "C-WRM-13 C-WRM-02 a proxy asks for Listeners when its Clusters are warm, and sees updates warm",
    "C-ECD-04 an extension config that does not fit is refused, and the server hears why",
  ],
  "packages/client/test/rest-peers.test.ts": ["C-RST-04 a poll that was held in vain is answered with 304"],
  "packages/client/test/rest.test.ts": [
    ["C-TYP-11 the source says which path, the type which resources", "B-TYP-08"],
    "B-GRP-08 an answer that is too large",
    "B-RST-05 B-ADS-07 B-DLT-01 what has no form in JSON is refused",
    ["B-RST-01 B-RST-02 C-RST-08 a poll is a POST of a whole DiscoveryRequest in canonical JSON", "B-RST-21"],
    "B-RST-02 an answer may have the names of JSON or of the proto file, and null",
    "C-RST-04 304 changes nothing, and the next poll follows",
    "C-RST-06 a server that is slow never has two requests of a subscription",
    "C-RST-08 the third poll still has the node",
    "C-RST-15 between two polls lie the delay and up to as much again",
    "C-RST-16 a server that hangs is a failure when the time is over",
    "C-RST-17 anything else than 200 and 304 is a failure",
    "C-RST-18 a body that cannot be read changes nothing, and the next poll follows",
    "C-RST-20 a change of interest does not wait",
    "B-MSC-09 fields that nobody here knows are passed over",
  ],
  "packages/client/test/status.test.ts": [
    "C-CSD-03 a name is requested, accepted, refused, and does not exist",
    "C-CSD-03 a stream has an answer for each request; nodes cannot be chosen among",
    "B-CSD-04 contents are left out where that is asked for, refused ones too; secrets are never shown",
    "B-CSD-04 several clients of a process are told apart by their scope",
    "B-CSD-05 in v2 it is by type, without endpoints and without what is only asked for",
  ],
  "packages/client/test/store.test.ts": ["C-CLI-06 the last configuration that was good"],
  "packages/conformance/test/client-library.test.ts": [
    "C-CON-01 C-CON-04 a connection that is dead is noticed by its pings, and made anew",
    "B-OBS-04 what is asked for, held, refused and known not to exist can be looked up",
  ],
  "packages/envoy-api/test/additions.test.ts": [
    "B-XTP-07 entries of a list collection, locators and inline ones, are passed on as they are",
  ],
  "packages/envoy-api/test/dependencies.test.ts": [
    "C-WRM-01 waits for the routes of every filter chain, wherever it stands, each once",
    "C-WRM-06 routes name clusters that nobody waits for, and have virtual hosts",
    "C-WRM-14 asks for its endpoints by its service name, or its own",
    "C-ODC-03 fetches the routes of scopes that stand in it, of some only on demand",
    "C-ODC-03 a scope names routes whose source only its listener knows",
    "C-ECD-02 waits for its extension configs, unless a default is used meanwhile",
    "C-ECD-04 tells what an extension config configures, be it written as JSON",
  ],
  "packages/protocol/src/client/errors.test.ts": [
    "C-ERR-06 C-ERR-11 C-ERR-13 ends the waiting, is acknowledged, and remembered until something better comes",
  ],
  "packages/protocol/src/client/located.test.ts": [
    "C-LOC-01 B-LOC-04 B-LOC-09 is told the variant that fits, and another one with other parameters",
    "B-LOC-04 a variant that fits nobody is dropped",
  ],
  "packages/protocol/src/load/load-reporter.test.ts": [
    "C-LRS-01 the start",
    "C-LRS-01 the first message has the node and no counts; what was sent before nobody asked for is not told",
    "C-LRS-04 reports",
    "C-LRS-04 are the counts since the last one and the time that really went by; what is in progress is as things stand",
    "C-LRS-04 tell that nothing is in progress any more, even of what was not asked for when it ended",
    "C-LRS-04 are by service name, locality and priority, with drops and metrics",
    "C-LRS-05 another answer",
    "C-LRS-05 a cluster that was asked for before loses nothing, one that was not starts at zero",
    "C-LRS-05 so with all clusters, and back to some",
    "C-LRS-05 C-LRS-07 lose no counts of what is asked for again, from the last report on",
    "C-LRS-07 streams that end",
    "C-LRS-07 are opened again after a pause that doubles, and starts anew after an answer",
  ],
  "packages/protocol/src/mesh/source-problems.test.ts": [
    "C-ADS-06 sources that are neither ads nor self are refused, all of them told",
    "C-ADS-06 ads, self, and what names no source are taken",
  ],
  "packages/protocol/src/resource/constraints.test.ts": [
    ["hold of the parameters that they are made of, and of who has more", "B-LOC-04"],
    "B-LOC-04 constraints",
  ],
  "packages/protocol/test/mesh-on-demand.test.ts": [
    "C-VHD-02 a request for a host goes on when its virtual host is there, or is known not to be",
    "C-ODC-01 a request for a cluster that nothing told of goes on when that is warm",
    "C-ODC-01 it goes on when there is none, which is asked for no more",
    "C-ODC-01 it goes on after 5 s, and what comes later is taken",
    "C-ODC-03 the routes of a scope are fetched at its first use only, and kept over an update",
  ],
  "packages/protocol/test/mesh-warming.test.ts": [
    "C-DEL-03 E16 routes are let go with the last Listener that uses them",
    ["C-DEL-09 routes that are removed stay in use while they are referred to, or go, as is chosen", "E16"],
    "C-WRM-01 one with EDS is warming until its endpoints are there, another is ready at once",
    "C-WRM-01 one that fetches its routes is warming until they are there",
    "C-WRM-02 the old version serves while the new one warms",
    "C-WRM-02 an update to other routes leaves the old ones in use until the new ones are there",
    ["C-WRM-04 endpoints that come again as they were end the warming of an update", "E15"],
    ["C-WRM-04 with a cache the endpoints of before are used when none came in time, without one none", "E15"],
    "C-WRM-04 a client like those of gRPC uses the endpoints that it has at once",
    "C-WRM-05 an update uses routes that are held at once",
    "C-WRM-06 routes act at once, though their cluster is not there",
    "C-WRM-07 an update that overtakes another takes its place, and waits for its own time",
    "C-WRM-07 a Cluster that is removed while it warms is gone, and so is what it asked for",
    "C-WRM-14 two that share their endpoints have one watch, kept as long as one of them is there",
    "C-ECD-02 a Listener waits for them, unless a default may be used meanwhile",
    "C-ECD-03 after the time the default is used, or nothing, until a config comes",
    "C-ECD-04 one of a type that does not fit is refused, and not used",
  ],
  "packages/protocol/test/mesh.test.ts": [
    "C-SUB-21 C-WRM-13 a proxy asks for Clusters, waits until they are warm, then asks for Listeners",
    "C-SUB-21 with a named root each step names the next, and clusters are asked for one by one",
    "C-WRM-03 the start goes on after the time for a first answer, and not before",
    "C-WRM-03 with a time of 0 it is waited for ever",
  ],
  "packages/protocol/test/property/load.test.ts": [
    "C-LRS-04 C-LRS-05 what is reported is what was counted of clusters that are asked for, whatever streams do",
  ],
  "packages/protocol/test/property/mesh.test.ts": [
    "C-DEL-03 C-WRM-01 a mesh comes to hold what its roots reach, shows no Cluster that was never warm, and lets go of all",
  ],
};

const ID = /\b(?:[BC]-[A-Z]{2,4}-\d+|E\d+)\b/g;

/** Proofs for the client outside the cases: transports, configuration, validation, output. */
export const clientProofs: readonly Proof[] = Object.entries(tests).flatMap(([test, named]) =>
  named.flatMap((one) => {
    const [name, ...besides] = typeof one === "string" ? [one] : one;
    return [...(name.match(ID) ?? []), ...besides].map((id) => ({ id, test, name }));
  }),
);
