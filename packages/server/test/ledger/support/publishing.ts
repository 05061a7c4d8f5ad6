import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource, type TypeUrl } from "@xdskit/protocol";
import { defaultFuses, type LedgerRecord, tripFuses } from "@xdskit/protocol/internal";
import type { StateChange } from "../../../src/ledger/in-force.ts";
import { MemoryLedgerStore } from "../../../src/ledger/memory-store.ts";
import { Publisher, type PublisherOptions } from "../../../src/ledger/publisher.ts";
import { readLedger } from "../../../src/ledger/reading.ts";
import type { PlacedResource } from "../../../src/ledger/references.ts";
import { DEFAULT_RETENTION, keptOf, recordsOf as recordsIn } from "../../../src/ledger/retention.ts";
import type { LedgerStore } from "../../../src/ledger/store.ts";
import { Slices } from "../../../src/slices.ts";

export const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
export const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
export const SECRET = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");
const api = createEnvoyApi();
const kindOf = (type: TypeUrl) => api.traits(type)?.kind ?? "opaque";
export const origin = { writer: "directory" };

export function resource(type: TypeUrl, name: string, text = ""): Resource {
  return createResource({ type, name, bytes: new TextEncoder().encode(text) }, contentDigest);
}

export const cluster = (name: string, text?: string): Resource => resource(CLUSTER, name, text);
export const base = (...resources: readonly Resource[]) => new Map([["base", resources]]);

const tripUsual: PublisherOptions["judge"] = (change, state) =>
  tripFuses(change, state, { time: Date.now(), kindOf, nodes: [] }, defaultFuses);

// biome-ignore lint/correctness/useYield: there is nothing to look at
export const tripNothing: PublisherOptions["judge"] = function* () {
  return [];
};

/** A publisher on a store, and what it puts in force, as text. */
export async function start(
  store: LedgerStore = new MemoryLedgerStore(),
  judge: PublisherOptions["judge"] = tripUsual,
  more: Partial<Pick<PublisherOptions, "endpointsEmptiedMs" | "mayPublish">> = {},
) {
  const inForce: string[] = [];
  const missing: string[] = [];
  const recorded: string[] = [];
  const problems: string[] = [];
  let revision = 0;
  const placed = new Map<string, PlacedResource>();
  const publisher = await Publisher.open({
    store,
    retention: DEFAULT_RETENTION,
    digest: contentDigest,
    holdsSecret: ({ type, bytes }) => type === SECRET || new TextDecoder().decode(bytes) === "a key",
    lacksEndpoints: ({ type, bytes }) => type === ENDPOINTS && new TextDecoder().decode(bytes) === "none",
    kindOf,
    judge,
    ...more,
    nodesBy: () => [
      { id: "edge", before: ["base"], after: ["base"], isCutOff: false, types: "any" },
      { id: "other", before: ["other"], after: ["other"], isCutOff: false, types: "any" },
    ],
    target: {
      get revision() {
        return revision;
      },
      check: ({ changes }) => (changes.some(({ layer }) => layer === "bad") ? "bad layer" : undefined),
      apply(change) {
        const text = textOf(change);
        if (text.includes("=unfit")) throw new Error("it does not fit");
        inForce.push(text);
        for (const { layer, puts = [], deletes = [] } of change.changes) {
          for (const resource of puts) placed.set(`${layer} ${resource.type} ${resource.name}`, { layer, resource });
          for (const { type, name } of deletes) placed.delete(`${layer} ${type} ${name}`);
        }
        return ++revision;
      },
      resources: () => placed.values(),
      changeMissing: ({ added, removed }) =>
        missing.push([...added.map(({ name }) => `+${name}`), ...removed.map(({ name }) => `-${name}`)].join(",")),
    },
    onRecorded: ({ number, kind }, { length }) => recorded.push(`${number} ${kind} ${length}`),
    onResumed: ({ number, resources, missing: lost }) => recorded.push(`resumed ${number} ${resources} ${lost}`),
    onProblem: (message) => problems.push(message),
  });
  return { publisher, store, inForce, missing, recorded, problems };
}

function textOf({ changes, placement }: StateChange): string {
  const parts = changes.flatMap(({ layer, puts = [], deletes = [] }) => [
    ...puts.map(({ name, bytes }) => `+${layer} ${name}=${new TextDecoder().decode(bytes)}`),
    ...deletes.map(({ name }) => `-${layer} ${name}`),
  ]);
  return [
    ...parts,
    ...(placement === undefined ? [] : [`placed in ${placement.groups.map(({ name }) => name).join(",")}`]),
  ].join(" ");
}

export async function recordsOf(store: LedgerStore): Promise<readonly LedgerRecord[]> {
  const records: LedgerRecord[] = [];
  for await (const { text } of store.read(0)) records.push(JSON.parse(text) as LedgerRecord);
  return records;
}

/** Writes a snapshot, and lets go of what is not kept beside it. */
export async function compact(store: LedgerStore): Promise<void> {
  const { state, head } = await readLedger(store);
  const snapshot = state.toSnapshot();
  const how = { now: Date.now(), completeAfter: store.completeAfter, slices: new Slices() };
  const keep = await keptOf(recordsIn(store), snapshot, DEFAULT_RETENTION, how);
  await store.compact({ head, text: JSON.stringify(snapshot) }, keep);
}
