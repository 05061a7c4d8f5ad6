import type { Dangling, MeshCluster, MeshResource, MeshSnapshot } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import type { Refusal } from "../../discovery/answers.ts";
import { describeStatus } from "../../discovery/describe-status.ts";
import type { Overruled, Unanswered, Wait } from "../../discovery/follow-mesh.ts";
import { danglingWords, overruledWords, shortNameOf } from "../../discovery/mesh-words.ts";
import type { Finding } from "./finding.ts";
import { grpcFindings } from "./grpc-findings.ts";

/** The input of `findingsIn`. */
export interface Received {
  readonly api: EnvoyApi;
  readonly snapshot: MeshSnapshot;
  readonly waits: readonly Wait[];
  /** The threshold of slow responses. */
  readonly slow: SlowLimit;
  readonly refusals: readonly Refusal[];
  readonly unanswered: readonly Unanswered[];
  readonly overruled: readonly Overruled[];
  /** The client is a gRPC client: what only gRPC rejects is an error too. */
  readonly isOfGrpc: boolean;
}

/** How long a resource may take to arrive. */
export interface SlowLimit {
  readonly ms: number;
  /** The caller set it with `--slow`: exceeding it is an error, else a warning. */
  readonly isSet: boolean;
}

/** Slow resources of one type that get a finding each; the rest is counted. */
const MAX_SLOW = 5;

/** Returns every finding, errors first. */
export function findingsIn(received: Received): readonly Finding[] {
  const { snapshot } = received;
  const findings = [
    ...received.unanswered.map((one) => silenceFinding(one, received)),
    ...slownessFindings(received),
    ...received.refusals.map((one) => refusalFinding(one, received)),
    ...[...snapshot.all.values()].flatMap((one) => errorFinding(one, received)),
    ...snapshot.dangling.map((one) => danglingFinding(one, received)),
    ...(received.isOfGrpc ? grpcFindings(snapshot, received.api) : []),
    ...[...snapshot.clusters.values()].flatMap((one) => endpointsFinding(one, received)),
    ...received.overruled.map((one) => overruledFinding(one, received)),
  ];
  const order = (one: Finding): number => (one.severity === "error" ? 0 : 1);
  return findings.sort((a, b) => order(a) - order(b));
}

function silenceFinding({ type, error }: Unanswered, { api }: Received): Finding {
  const why = error === undefined ? "" : `: ${describeStatus(error)}`;
  const message = `${shortNameOf(type, api)}: asked for, and never answered${why}`;
  return { severity: "error", code: "NO_ANSWER", type, message };
}

function slownessFindings({ waits, slow: { ms, isSet }, api }: Received): readonly Finding[] {
  const severity = isSet ? "error" : "warning";
  const byType = new Map<TypeUrl, Wait[]>();
  for (const wait of waits) {
    if (wait.afterMs <= ms) continue;
    const ofType = byType.get(wait.type) ?? [];
    byType.set(wait.type, ofType);
    ofType.push(wait);
  }
  return [...byType].flatMap(([type, ofType]) => {
    const shown = shortNameOf(type, api);
    const sorted = ofType.sort((a, b) => b.afterMs - a.afterMs);
    const told = sorted.slice(0, MAX_SLOW).map(({ term, afterMs }): Finding => {
      const what = term === "*" ? `${shown}: the first answer` : `${shown} ${term}: the answer`;
      const name = term === "*" ? {} : { name: term };
      return { severity, code: "ANSWER_SLOW", type, ...name, message: `${what} took ${formatSeconds(afterMs)}` };
    });
    const more = sorted.length - told.length;
    if (more === 0) return told;
    const message = `${shown}: ${more} more took longer than ${formatSeconds(ms)}`;
    return [...told, { severity, code: "ANSWER_SLOW", type, message }];
  });
}

/** Formats milliseconds as `1.5 s` or `0.25 s`. */
function formatSeconds(ms: number): string {
  return `${Number((ms / 1000).toPrecision(2))} s`;
}

function refusalFinding({ type, version, error }: Refusal, { api }: Received): Finding {
  const shown = `${shortNameOf(type, api)}${version === "" ? "" : ` ${version}`}`;
  return { severity: "error", code: "UPDATE_REFUSED", type, message: `${shown}: a client refuses it: ${error}` };
}

function errorFinding({ type, name, state, error }: MeshResource, { api }: Received): readonly Finding[] {
  if (state !== "error" || error === undefined || error.code === "REJECTED") return [];
  const message = `${shortNameOf(type, api)} ${name}: ${error.message}`;
  return [{ severity: "error", code: "RESOURCE_ERROR", type, name, message }];
}

function danglingFinding({ from, to, why }: Dangling, { api }: Received): Finding {
  const what = `${shortNameOf(to.type, api)} ${to.name}`;
  const subject = from === undefined ? what : `${shortNameOf(from.type, api)} ${from.name} needs ${what}`;
  const code = why === "warming" ? "NOT_USABLE" : "NAME_DANGLING";
  const { type, name } = from ?? to;
  return { severity: "error", code, type, name, message: `${subject}: ${danglingWords[why]}` };
}

/** A warning for an endpoint assignment without endpoints: every request to the cluster fails. */
function endpointsFinding(cluster: MeshCluster, { api }: Received): readonly Finding[] {
  if (cluster.endpoints === undefined || endpointsOf(cluster) !== 0) return [];
  const { type, name } = cluster;
  const message = `${shortNameOf(type, api)} ${name}: has no endpoint to send to`;
  return [{ severity: "warning", code: "NO_ENDPOINTS", type, name, message }];
}

/** A warning for a server's resource that a static one of the bootstrap overrides. */
function overruledFinding({ type, name }: Overruled, { api }: Received): Finding {
  const message = `${shortNameOf(type, api)} ${name}: ${overruledWords}`;
  return { severity: "warning", code: "NAME_OVERRULED", type, name, message };
}

/** The number of a Cluster's endpoints from EDS; undefined if it does not use EDS. */
export function endpointsOf({ endpoints, lbEndpoints }: MeshCluster): number | undefined {
  if (endpoints === undefined) return undefined;
  const inline = (endpoints.json.endpoints ?? []).map((locality) => locality.lbEndpoints?.length ?? 0);
  return inline.reduce((sum, count) => sum + count, lbEndpoints.length);
}
