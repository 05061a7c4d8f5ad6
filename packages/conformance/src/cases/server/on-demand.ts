import type { Case } from "../../case.ts";

const envoy = { id: "n1", agent: "envoy" };

/** VHD, ODC: virtual hosts and clusters on demand. */
export const onDemandCases: readonly Case[] = [
  {
    id: "B-VHD-01",
    says: "tells route configuration and host apart at the last slash",
    variant: "delta",
    type: "vhds",
    steps: [
      {
        publishes: {
          vhds: [
            { is: "a/b/wild@1", aliases: ["a/b/*.com"] },
            { is: "a/wild@1", aliases: ["a/*.com"] },
          ],
        },
      },
      {
        receives: { subscribe: ["a/b/foo.com"] },
        sends: [{ resources: ["a/b/wild@1 aka a/b/*.com, a/b/foo.com"] }],
      },
    ],
  },
  {
    id: "S-VHD-03",
    also: ["B-DLT-12", "S-DLT-13"],
    says: "answers for any domain of a virtual host, under its one name with all aliases",
    variant: "delta",
    type: "vhds",
    steps: [
      { publishes: { vhds: [{ is: "rc/web@1", aliases: ["rc/foo.com", "rc/bar.com"] }] } },
      {
        receives: { subscribe: ["rc/bar.com", "rc/foo.com"] },
        sends: [{ resources: ["rc/web@1 aka rc/bar.com, rc/foo.com"] }],
      },
      { receives: { ack: true } },
      {
        publishes: { vhds: [{ is: "rc/web@2", aliases: ["rc/foo.com", "rc/bar.com"] }] },
        sends: [{ resources: ["rc/web@2 aka rc/bar.com, rc/foo.com"] }],
      },
      { receives: { ack: true } },
      { publishes: { vhds: ["-rc/web"] }, sends: [{ removed: ["rc/web"] }] },
    ],
  },
  {
    id: "S-VHD-03/best",
    says: "answers with the most specific domain that an asked host falls under",
    variant: "delta",
    type: "vhds",
    steps: [
      {
        publishes: {
          vhds: [
            { is: "rc/exact@1", aliases: ["rc/foo.a.com"] },
            { is: "rc/long@1", aliases: ["rc/*.a.com"] },
            { is: "rc/short@1", aliases: ["rc/*.com"] },
            { is: "rc/begin@1", aliases: ["rc/foo.*"] },
            { is: "rc/star@1", aliases: ["rc/*"] },
            { is: "other/star@1", aliases: ["other/*"] },
          ],
        },
      },
      { receives: { subscribe: ["rc/foo.a.com"] }, sends: [{ resources: ["rc/exact@1 aka rc/foo.a.com"] }] },
      { receives: { subscribe: ["rc/x.a.com"] }, sends: [{ resources: ["rc/long@1 aka rc/*.a.com, rc/x.a.com"] }] },
      { receives: { subscribe: ["rc/foo.com"] }, sends: [{ resources: ["rc/short@1 aka rc/*.com, rc/foo.com"] }] },
      { receives: { subscribe: ["rc/foo.org"] }, sends: [{ resources: ["rc/begin@1 aka rc/foo.*, rc/foo.org"] }] },
      {
        receives: { subscribe: ["rc/.a.com"] },
        sends: [{ resources: ["rc/short@1 aka rc/*.com, rc/.a.com, rc/foo.com"] }],
      },
      { receives: { subscribe: ["rc/foo."] }, sends: [{ resources: ["rc/star@1 aka rc/*, rc/foo."] }] },
      { receives: { subscribe: ["none/foo.com"] }, sends: [{ removed: ["none/foo.com"] }] },
    ],
  },
  {
    id: "S-VHD-03/better",
    says: "gives a client the better virtual host when it comes, and the other one back when it is gone",
    variant: "delta",
    type: "vhds",
    steps: [
      { publishes: { vhds: [{ is: "rc/wild@1", aliases: ["rc/*.com"] }] } },
      { receives: { subscribe: ["rc/a.com"] }, sends: [{ resources: ["rc/wild@1 aka rc/*.com, rc/a.com"] }] },
      { receives: { ack: true } },
      {
        publishes: { vhds: [{ is: "rc/own@1", aliases: ["rc/a.com"] }] },
        sends: [{ resources: ["rc/own@1 aka rc/a.com"], removed: ["rc/wild"] }],
      },
      { receives: { ack: true } },
      { publishes: { vhds: [{ is: "rc/wild@2", aliases: ["rc/*.com"] }] } },
      {
        publishes: { vhds: ["-rc/own"] },
        sends: [{ resources: ["rc/wild@2 aka rc/*.com, rc/a.com"], removed: ["rc/own"] }],
      },
      { receives: { ack: true } },
      { receives: { subscribe: ["rc/b.com"] }, sends: [{ resources: ["rc/wild@2 aka rc/*.com, rc/a.com, rc/b.com"] }] },
      { receives: { ack: true } },
      {
        publishes: { vhds: [{ is: "rc/own@1", aliases: ["rc/a.com"] }] },
        sends: [{ resources: ["rc/own@1 aka rc/a.com"] }],
      },
    ],
  },
  {
    id: "S-VHD-03/held",
    says: "tells a client that a virtual host which it has answers to one more host that it asked for",
    variant: "delta",
    type: "vhds",
    steps: [
      {
        publishes: {
          vhds: [
            { is: "rc/wild@1", aliases: ["rc/*.com"] },
            { is: "rc/own@1", aliases: ["rc/a.com"] },
          ],
        },
      },
      {
        receives: { subscribe: ["rc/a.com", "rc/b.com"] },
        sends: [{ resources: ["rc/own@1 aka rc/a.com", "rc/wild@1 aka rc/*.com, rc/b.com"] }],
      },
      { receives: { ack: true } },
      {
        publishes: { vhds: ["-rc/own"] },
        sends: [{ resources: ["rc/wild@1 aka rc/*.com, rc/a.com, rc/b.com"], removed: ["rc/own"] }],
      },
    ],
  },
  {
    id: "S-VHD-03/changed",
    says: "sends a change of a virtual host to whoever a wildcard domain led to it, and to nobody else",
    variant: "delta",
    type: "vhds",
    steps: [
      {
        publishes: {
          vhds: [
            { is: "rc/com@1", aliases: ["rc/*.com"] },
            { is: "rc/org@1", aliases: ["rc/*.org"] },
          ],
        },
      },
      { receives: { subscribe: ["rc/a.com"] }, sends: [{ resources: ["rc/com@1 aka rc/*.com, rc/a.com"] }] },
      { receives: { ack: true } },
      {
        receives: { subscribe: ["rc/a.org"] },
        on: "b",
        sends: [{ on: "b", resources: ["rc/org@1 aka rc/*.org, rc/a.org"] }],
      },
      { receives: { ack: true }, on: "b" },
      {
        publishes: { vhds: [{ is: "rc/com@2", aliases: ["rc/*.com"] }] },
        sends: [{ resources: ["rc/com@2 aka rc/*.com, rc/a.com"] }],
      },
      { receives: { ack: true } },
      // Its alias no longer matches the requested host.
      { publishes: { vhds: [{ is: "rc/com@3", aliases: ["rc/*.net"] }] }, sends: [{ removed: ["rc/com"] }] },
    ],
  },
  {
    id: "S-VHD-03/late",
    also: ["S-NEX-09"],
    says: "tells of a host as soon as a domain that it falls under exists",
    variant: "delta",
    type: "vhds",
    steps: [
      { publishes: { vhds: ["rc/other@1"] } },
      { receives: { subscribe: ["rc/a.com"] }, sends: [{ removed: ["rc/a.com"] }] },
      { receives: { ack: true } },
      {
        publishes: { vhds: [{ is: "rc/wild@1", aliases: ["rc/*.com"] }] },
        sends: [{ resources: ["rc/wild@1 aka rc/*.com, rc/a.com"] }],
      },
    ],
  },
  {
    id: "S-VHD-04",
    says: "gives the base set at first, and what is on demand to whoever asks for it",
    variant: "delta",
    type: "vhds",
    steps: [
      { publishes: { vhds: ["rc/base@1", { is: "rc/more@1", onDemand: true }] } },
      { receives: {}, sends: [{ resources: ["rc/base@1"] }] },
      { receives: { ack: true } },
      { publishes: { vhds: [{ is: "rc/more@2", onDemand: true }] } },
      { receives: { subscribe: ["rc/more"] }, sends: [{ resources: ["rc/more@2"] }] },
      { receives: { ack: true } },
      {
        publishes: { vhds: ["rc/base@2", { is: "rc/more@3", onDemand: true }] },
        sends: [{ resources: ["rc/base@2", "rc/more@3"] }],
      },
    ],
  },
  {
    id: "S-VHD-04/resent",
    also: ["S-ORD-04"],
    says: "sends the subscribed virtual hosts of a route configuration again when that changed",
    variant: "delta",
    type: "vhds",
    streams: ["ads"],
    steps: [
      {
        publishes: {
          rds: [
            { is: "rc@1", vhds: true },
            { is: "other@1", vhds: true },
          ],
          vhds: [
            "rc/base@1",
            "other/base@1",
            { is: "rc/asked@1", onDemand: true, aliases: ["rc/*.com"] },
            { is: "rc/never@1", onDemand: true },
          ],
        },
      },
      {
        receives: { type: "rds", subscribe: ["rc", "other"] },
        sends: [{ type: "rds", resources: ["rc@1", "other@1"] }],
      },
      { receives: { type: "rds", ack: true } },
      { receives: {}, sends: [{ resources: ["rc/base@1", "other/base@1"] }] },
      { receives: { ack: true } },
      {
        receives: { subscribe: ["rc/a.com", "rc/ghost"] },
        sends: [{ resources: ["rc/asked@1 aka rc/*.com, rc/a.com"], removed: ["rc/ghost"] }],
      },
      { receives: { ack: true } },
      {
        publishes: { rds: [{ is: "rc@2", vhds: true }] },
        sends: [
          { type: "rds", resources: ["rc@2"] },
          { resources: ["rc/base@1", "rc/asked@1 aka rc/*.com, rc/a.com"] },
        ],
      },
      { receives: { type: "rds", ack: true } },
      { receives: { ack: true } },
      { publishes: { rds: ["other@2"] }, sends: [{ type: "rds", resources: ["other@2"] }] },
    ],
  },
  {
    id: "S-VHD-04/streams",
    says: "sends them again on a stream of their own too",
    variant: "delta",
    type: "vhds",
    streams: ["per-type"],
    steps: [
      {
        publishes: {
          rds: [{ is: "rc@1", vhds: true }],
          vhds: ["rc/base@1", { is: "rc/asked@1", onDemand: true }],
        },
      },
      { opens: { routes: { kind: "rds" } } },
      {
        receives: { type: "rds", subscribe: ["rc"] },
        on: "routes",
        sends: [{ on: "routes", type: "rds", resources: ["rc@1"] }],
      },
      { receives: { type: "rds", ack: true }, on: "routes" },
      { receives: {}, sends: [{ resources: ["rc/base@1"] }] },
      { receives: { ack: true } },
      { receives: { subscribe: ["rc/asked"] }, sends: [{ resources: ["rc/asked@1"] }] },
      { receives: { ack: true } },
      {
        publishes: { rds: [{ is: "rc@2", vhds: true }] },
        sends: [{ on: "routes", type: "rds", resources: ["rc@2"] }, { resources: ["rc/base@1", "rc/asked@1"] }],
      },
    ],
  },
  {
    id: "S-VHD-05",
    also: ["S-NEX-06", "S-NEX-09"],
    says: "reports an unknown host as removed, each time it is asked for, and tells of it when it exists",
    variant: "delta",
    type: "vhds",
    steps: [
      { publishes: { vhds: ["rc/base@1"] } },
      { receives: {}, sends: [{ resources: ["rc/base@1"] }] },
      { receives: { ack: true } },
      { receives: { subscribe: ["rc/ghost"] }, sends: [{ removed: ["rc/ghost"] }] },
      { receives: { ack: true } },
      { receives: { subscribe: ["rc/ghost"] }, sends: [{ removed: ["rc/ghost"] }] },
      { receives: { ack: true } },
      { publishes: { vhds: [{ is: "rc/ghost@1", onDemand: true }] }, sends: [{ resources: ["rc/ghost@1"] }] },
    ],
  },
  {
    id: "S-VHD-05/envoy",
    level: "own",
    also: ["S-DLT-16", "T-H3"],
    says: "reports an unknown host to Envoy by a resource without a body",
    variant: "delta",
    type: "vhds",
    steps: [
      { publishes: { vhds: ["rc/base@1"] } },
      { receives: { node: envoy }, sends: [{ resources: ["rc/base@1"] }] },
      { receives: { ack: true } },
      { receives: { subscribe: ["rc/ghost"] }, sends: [{ missing: ["rc/ghost"] }] },
      { receives: { ack: true } },
      { receives: { subscribe: ["rc/ghost"] }, sends: [{ missing: ["rc/ghost"] }] },
      { receives: { ack: true } },
      {
        publishes: { vhds: [{ is: "rc/wild@1", aliases: ["rc/*"], onDemand: true }] },
        sends: [{ resources: ["rc/wild@1 aka rc/*, rc/ghost"] }],
      },
      { receives: { ack: true } },
      { publishes: { vhds: ["-rc/wild"] }, sends: [{ removed: ["rc/wild"] }] },
    ],
  },
  {
    id: "S-ODC-02",
    also: ["S-SUB-22", "S-UNS-06", "T-H4", "T-D2"],
    says: "gives clusters by name beside the wildcard, and tells at once of those that do not exist",
    variant: "delta",
    type: "cds",
    steps: [
      { publishes: { cds: ["base@1", { is: "more@1", onDemand: true }] } },
      { receives: { node: envoy }, sends: [{ resources: ["base@1"] }] },
      { receives: { ack: true } },
      { receives: { subscribe: ["more"] }, sends: [{ resources: ["more@1"] }] },
      { receives: { ack: true } },
      { receives: { subscribe: ["late"] }, sends: [{ removed: ["late"] }] },
      { receives: { ack: true } },
      { publishes: { cds: [{ is: "never@1", onDemand: true }] } },
      // Envoy does not subscribe again after a removal, so the server must send the cluster.
      { publishes: { cds: [{ is: "late@1", onDemand: true }] }, sends: [{ resources: ["late@1"] }] },
      { receives: { ack: true } },
      { publishes: { cds: ["base@2"] }, sends: [{ resources: ["base@2"] }] },
      { receives: { ack: true } },
      { receives: { unsubscribe: ["more"] }, sends: [{ removed: ["more"] }] },
      { receives: { ack: true } },
      { publishes: { cds: ["-late"] }, sends: [{ removed: ["late"] }] },
    ],
  },
  {
    id: "S-ODC-02/stream",
    also: ["T-H4", "T-D2"],
    says: "does not take the ACKs of a stream that asks for single clusters for a wildcard",
    variant: "delta",
    type: "cds",
    steps: [
      { publishes: { cds: ["base@1", { is: "more@1", onDemand: true }] } },
      { receives: { subscribe: ["more"], node: envoy }, sends: [{ resources: ["more@1"] }] },
      { receives: { ack: true } },
      { publishes: { cds: ["base@2"] } },
      { receives: { subscribe: ["ghost"] }, sends: [{ removed: ["ghost"] }] },
      { receives: { ack: true } },
      { publishes: { cds: [{ is: "more@2", onDemand: true }] }, sends: [{ resources: ["more@2"] }] },
    ],
  },
  {
    id: "S-ODC-02/again",
    also: ["T-D2", "S-REC-09"],
    says: "sends a client that comes back with a star and names what it lacks of either",
    variant: "delta",
    type: "cds",
    steps: [
      { publishes: { cds: ["base@1", { is: "more@1", onDemand: true }, { is: "others@1", onDemand: true }] } },
      { receives: {}, sends: [{ resources: ["base@1"] }] },
      { receives: { ack: true } },
      { receives: { subscribe: ["more"] }, sends: [{ resources: ["more@1"] }] },
      { receives: { ack: true } },
      { breaks: "c1" },
      { publishes: { cds: [{ is: "more@2", onDemand: true }] } },
      {
        receives: { subscribe: ["*", "more", "ghost"], initial: ["base@1", "more@1"] },
        on: "again",
        sends: [{ on: "again", resources: ["more@2"], removed: ["ghost"] }],
      },
    ],
  },
  {
    id: "D13",
    also: ["S-VHD-04"],
    says: "begins with the base set of virtual hosts",
    variant: "delta",
    type: "vhds",
    steps: [
      { publishes: { vhds: ["rc/a@1", "rc/b@1", { is: "rc/c@1", onDemand: true }] } },
      { receives: { node: envoy }, sends: [{ resources: ["rc/a@1", "rc/b@1"], as: "A" }] },
      { receives: { ack: "A" }, reports: [{ acked: "A" }] },
    ],
  },
  {
    id: "D14",
    also: ["S-VHD-03"],
    says: "gives a virtual host to a client that paused a request for it",
    variant: "delta",
    type: "vhds",
    steps: [
      { publishes: { vhds: ["rc/a@1", { is: "rc/c@1", onDemand: true, aliases: ["rc/c.com", "rc/*.c.com"] }] } },
      { receives: { node: envoy }, sends: [{ resources: ["rc/a@1"] }] },
      { receives: { ack: true } },
      {
        receives: { subscribe: ["rc/www.c.com"] },
        sends: [{ resources: ["rc/c@1 aka rc/*.c.com, rc/c.com, rc/www.c.com"], as: "B" }],
      },
      { receives: { ack: "B" }, reports: [{ acked: "B" }] },
    ],
  },
];
