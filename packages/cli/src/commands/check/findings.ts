import type { Dangling, MeshCluster, MeshResource, MeshSnapshot } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import type { TypeUrl } from "@xdskit/protocol";
import type { AnsweredType, Refusal } from "../../discovery/answers.ts";
import { describeStatus } from "../../discovery/describe-status.ts";
import type { Followed } from "../../discovery/follow-mesh.ts";
import { danglingWords, shortNameOf } from "../../discovery/mesh-words.ts";

/** What is wrong, to branch on. */
export type FindingCode =
  | "NAME_DANGLING"
  | "NOT_USABLE"
  | "NO_ANSWER"
  | "UPDATE_REFUSED"
  | "RESOURCE_ERROR"
  | "NO_ENDPOINTS"
  | "ANSWER_SLOW";

/** Something that is wrong with what a client receives. */
export interface Finding {
  readonly severity: "error" | "warning";
  readonly code: FindingCode;
  readonly type: TypeUrl;
  /** Of the resource; missing where it concerns the type. */
  readonly name?: string;
  readonly message: string;
}

/** What findings are made of. */
export interface Received {
  readonly api: EnvoyApi;
  readonly snapshot: MeshSnapshot;
  readonly types: readonly AnsweredType[];
  readonly refusals: readonly Refusal[];
  readonly unanswered: Followed["unanswered"];
}

/** A first answer that takes longer is told. */
const SLOW_MS = 1_000;

/** Everything that is wrong, the worst first. */
export function findingsIn(received: Received): readonly Finding[] {
  const { snapshot } = received;
  const findings = [
    ...received.unanswered.map((one) => silenceFinding(one, received)),
    ...received.types.flatMap((one) => slownessFinding(one, received)),
    ...received.refusals.map((one) => refusalFinding(one, received)),
    ...[...snapshot.all.values()].flatMap((one) => errorFinding(one, received)),
    ...snapshot.dangling.map((one) => danglingFinding(one, received)),
    ...[...snapshot.clusters.values()].flatMap((one) => endpointsFinding(one, received)),
  ];
  const order = (one: Finding): number => (one.severity === "error" ? 0 : 1);
  return findings.sort((a, b) => order(a) - order(b));
}

function silenceFinding({ type, error }: Followed["unanswered"][number], { api }: Received): Finding {
  const why = error === undefined ? "" : `: ${describeStatus(error)}`;
  const message = `${shortNameOf(type, api)}: asked for, and never answered${why}`;
  return { severity: "error", code: "NO_ANSWER", type, message };
}

function slownessFinding({ type, firstAnswerMs = 0 }: AnsweredType, { api }: Received): readonly Finding[] {
  if (firstAnswerMs <= SLOW_MS) return [];
  const seconds = (firstAnswerMs / 1000).toFixed(1);
  return [
    {
      severity: "warning",
      code: "ANSWER_SLOW",
      type,
      message: `${shortNameOf(type, api)}: the first answer took ${seconds} s`,
    },
  ];
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
  const { type, name } = from ?? to;
  const needs = `${from === undefined ? "" : `${shortNameOf(type, api)} ${name} needs `}${shortNameOf(to.type, api)} ${to.name}`;
  const code = why === "warming" ? "NOT_USABLE" : "NAME_DANGLING";
  return { severity: "error", code, type, name, message: `${needs}: ${danglingWords[why]}` };
}

/** Endpoints that came, and are none: every request to the cluster fails. */
function endpointsFinding(cluster: MeshCluster, { api }: Received): readonly Finding[] {
  if (cluster.endpoints === undefined || endpointsOf(cluster) !== 0) return [];
  const { type, name } = cluster;
  const message = `${shortNameOf(type, api)} ${name}: has no endpoint to send to`;
  return [{ severity: "warning", code: "NO_ENDPOINTS", type, name, message }];
}

/** How many endpoints a Cluster has by EDS; undefined: it does not have them from there. */
export function endpointsOf({ endpoints, lbEndpoints }: MeshCluster): number | undefined {
  if (endpoints === undefined) return undefined;
  const inline = (endpoints.json.endpoints ?? []).map((locality) => locality.lbEndpoints?.length ?? 0);
  return inline.reduce((sum, count) => sum + count, lbEndpoints.length);
}
