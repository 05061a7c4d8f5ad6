import { contentDigest } from "@xdskit/envoy-api";
import { createResource, type Resource, type TypeUrl } from "@xdskit/protocol";
import { defaultFuses, tripFuses } from "@xdskit/protocol/internal";
import type { HeldLease } from "../../../src/ledger/lease.ts";
import { Publisher } from "../../../src/ledger/publisher.ts";
import { DEFAULT_RETENTION } from "../../../src/ledger/retention.ts";
import type { LedgerStore } from "../../../src/ledger/store.ts";
import { CLUSTER, ENDPOINTS, SECRET, testApi } from "../../support/test-server.ts";

export const cluster = (name: string, text = ""): Resource => made(CLUSTER, name, text);
export const endpoints = (name: string, text = ""): Resource => made(ENDPOINTS, name, text);
export const secret = (name: string, text = ""): Resource => made(SECRET, name, text);

function made(type: TypeUrl, name: string, text: string): Resource {
  return createResource({ type, name, bytes: new TextEncoder().encode(text) }, contentDigest);
}

export interface Replica {
  readonly publisher: Publisher;
  /** What each change in force made of the whole, as text. */
  readonly states: string[];
  readonly recorded: string[];
  readonly problems: string[];
  readonly judged: number[];
  /** Publishes these as all that a directory has. */
  publish(...resources: readonly Resource[]): ReturnType<Publisher["publish"]>;
}

/** A server as the ledger sees it. */
export async function openReplica(
  store: LedgerStore,
  {
    mayPublish,
    refuses = () => false,
  }: {
    readonly mayPublish?: () => HeldLease | boolean;
    readonly refuses?: (name: string) => boolean;
  } = {},
): Promise<Replica> {
  const api = testApi();
  const kindOf = (type: TypeUrl) => api.traits(type)?.kind ?? "opaque";
  const inForce = new Map<string, string>();
  const states: string[] = [];
  const recorded: string[] = [];
  const problems: string[] = [];
  const judged: number[] = [];
  let revision = 0;
  const publisher = await Publisher.open({
    ...{ store, retention: DEFAULT_RETENTION, digest: contentDigest, kindOf },
    holdsSecret: ({ type }) => type === SECRET,
    nodesBy: () => [],
    judge: (change, state) => {
      judged.push(state.number);
      return tripFuses(change, state, { time: Date.now(), kindOf, nodes: [] }, defaultFuses);
    },
    target: {
      resources: () => [],
      get revision() {
        return revision;
      },
      check: ({ changes }) =>
        changes.some(({ puts = [] }) => puts.some(({ name }) => refuses(name))) ? "not accepted here" : undefined,
      apply: ({ changes }) => {
        for (const { puts = [], deletes = [] } of changes) {
          for (const { type, name, bytes } of puts) inForce.set(keyOf(type, name), new TextDecoder().decode(bytes));
          for (const { type, name = "" } of deletes) inForce.delete(keyOf(type, name));
        }
        states.push(
          [...inForce]
            .map(([key, text]) => `${key}=${text}`)
            .sort()
            .join(" "),
        );
        return ++revision;
      },
      changeMissing: () => undefined,
    },
    ...(mayPublish !== undefined && { mayPublish }),
    onRecorded: ({ number, kind }, { length }) => recorded.push(`${number} ${kind} ${length}`),
    onResumed: ({ number, resources, missing }) => recorded.push(`resumed ${number} ${resources} ${missing}`),
    onProblem: (message) => problems.push(message),
  });
  return {
    ...{ publisher, states, recorded, problems, judged },
    publish: (...resources) =>
      publisher.publish({ layers: new Map([["base", resources]]), origin: { writer: "directory" } }),
  };
}

function keyOf(type: TypeUrl, name: string): string {
  return type === ENDPOINTS ? `${name}/eds` : type === SECRET ? `${name}/sds` : name;
}
