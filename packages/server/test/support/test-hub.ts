import { contentDigest, createEnvoyApi } from "@xdskit/envoy-api";
import { createBodyEncoder, decodeDeltaResponse } from "@xdskit/envoy-api/internal";
import {
  type AccessRules,
  anonymousNode,
  createResource,
  formatTypeUrl,
  type Peer,
  type Resource,
  type Status,
  type TypeUrl,
} from "@xdskit/protocol";
import { type AccessPolicy, type DeltaRequest, noInitialVersions } from "@xdskit/protocol/internal";
import { readAccess } from "../../src/hub/access.ts";
import { Hub, type HubOptions } from "../../src/hub/hub.ts";
import type { ServerReport } from "../../src/hub/port.ts";
import { defaultLimits } from "../../src/limits.ts";

export const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");
export const ENDPOINTS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
export const remote: Peer = { address: "192.0.2.7:4000", isLoopback: false, isTls: false, names: [] };
export const api = createEnvoyApi();

export function resource(type: TypeUrl, name: string, text: string = ""): Resource {
  return createResource({ type, name, bytes: Buffer.from(text) }, contentDigest);
}

export function request(type: TypeUrl, subscribe: readonly string[] = []): DeltaRequest {
  const node = { ...anonymousNode, id: "n" };
  const nothing = { nonce: undefined, error: undefined, unsubscribe: [], initialVersions: noInitialVersions };
  return { kind: "delta", type, node, subscribe, ...nothing };
}

export function accessOf(options: { access?: AccessRules; insecure?: boolean } = {}): AccessPolicy {
  const access = readAccess({
    ...{ access: undefined, insecure: false, statusReaders: "loopback" },
    ...{ traits: (type) => api.traits(type), onThrown: () => undefined },
    ...options,
  });
  if ("problems" in access) throw new Error(access.problems[0]?.message);
  return access;
}

/** A hub with clients that read at once what is written to them. */
export function startHub(options: Partial<HubOptions> = {}) {
  const reports: ServerReport[] = [];
  const hub = new Hub({
    digest: contentDigest,
    traits: (type) => api.traits(type),
    nodeMapping: () => ["base"],
    access: accessOf(),
    encoder: createBodyEncoder({ controlPlane: "" }),
    limits: { ...defaultLimits, maxDebounceMs: 0 },
    telemetry: { report: (report) => reports.push(report) },
    ...options,
  });
  const open = (peer: Peer, onlyType?: TypeUrl) => {
    const connection = hub.openConnection(peer, "grpc") ?? 0;
    const received: string[][] = [];
    const ended: (Status | "reset")[] = [];
    const stream = hub.openStream(
      { connection, variant: "delta", onlyType, apiVersion: "v3", method: "/test" },
      {
        prefix: () => new Uint8Array(0),
        write(pieces, written) {
          received.push(decodeDeltaResponse(Buffer.concat(pieces)).resources.map(({ name }) => name));
          queueMicrotask(written);
        },
        end: (status) => ended.push(status),
        reset: () => ended.push("reset"),
      },
    );
    if (typeof stream !== "number") throw new Error(stream.message);
    return { stream, received, ended, ask: (asked: DeltaRequest) => hub.receive(stream, asked, 10) };
  };
  return { hub, reports, open };
}

/** All slices that are scheduled now, and those they schedule. */
export async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
}
