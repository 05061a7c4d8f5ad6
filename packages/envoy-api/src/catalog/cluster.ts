import type { Cluster } from "../../gen/types/envoy/config/cluster/v3/cluster_pb.d.ts";
import { lengthTag, WireReader } from "../wire/reader.ts";
import { WireError } from "../wire/wire-error.ts";
import { type AskedReference, isAskedOverXds } from "./config-source.ts";
import { type CatalogEntry, defineEntry, type ReportFinding } from "./entry.ts";
import { resourceType } from "./resource-type.ts";

const STATIC = 0;
const STRICT_DNS = 1;
const LOGICAL_DNS = 2;
const EDS = 3;
const ORIGINAL_DST = 4;
const CLUSTER_PROVIDED = 6;

/** CDS: refers to its ClusterLoadAssignment, which a client awaits again after every change of the Cluster. */
export const cluster: CatalogEntry = defineEntry<Cluster>({
  message: "envoy.config.cluster.v3.Cluster",
  kind: "cds",
  shortName: "cds",
  isFullState: true,
  owes: [resourceType.clusterLoadAssignment],
  v2Message: "envoy.api.v2.Cluster",
  discovery: {
    services: { v3: "envoy.service.cluster.v3.Cluster", v2: "envoy.api.v2.Cluster" },
    noun: "Clusters",
    isIncremental2018: true,
    rest: "clusters",
  },
  nameField: "name",
  referencesIn: findEndpoints,
  warmsOn: hasHealthChecks,
  check: checkCluster,
});

/** The field `health_checks`. */
const HEALTH_CHECKS = lengthTag(8);

/** False for bytes that are no message: a program may serve what it likes. */
function hasHealthChecks(bytes: Uint8Array): boolean {
  const reader = new WireReader(bytes);
  try {
    while (reader.hasMore) {
      const tag = reader.tag();
      if (tag === HEALTH_CHECKS) return true;
      reader.skip(tag);
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
  return false;
}

/** The client subscribes to the endpoints by service name, or by the cluster's name (client-behaviours G6). */
function findEndpoints(content: Cluster): readonly AskedReference[] {
  const config = content.edsClusterConfig;
  if (typeOf(content) !== EDS || config === undefined || !isAskedOverXds(config.edsConfig)) return [];
  return [
    { type: resourceType.clusterLoadAssignment, name: config.serviceName || content.name, source: config.edsConfig },
  ];
}

function typeOf(content: Cluster): number | undefined {
  switch (content.clusterDiscoveryType.case) {
    case "type":
      return content.clusterDiscoveryType.value;
    case "clusterType":
      return undefined;
    default:
      return STATIC;
  }
}

function checkCluster(content: Cluster, report: ReportFinding): void {
  const type = typeOf(content);
  if (type === EDS) checkEds(content, report);
  else if (content.edsClusterConfig !== undefined) {
    report(
      "CLUSTER_EDS_CONFIG_UNUSED",
      ["eds_cluster_config"],
      "expected type EDS beside `eds_cluster_config`: Envoy rejects it with another",
    );
  }
  const isResolved = type === STATIC || type === STRICT_DNS || type === LOGICAL_DNS;
  if (isResolved && content.loadAssignment === undefined) {
    report(
      "CLUSTER_ENDPOINTS_MISSING",
      [],
      "expected `load_assignment`, got none: the cluster has no endpoint to send to",
    );
  }
  if (type === LOGICAL_DNS && content.loadAssignment !== undefined && countEndpoints(content) !== 1) {
    report(
      "CLUSTER_LOGICAL_DNS_ENDPOINTS",
      ["load_assignment"],
      `expected one endpoint for LOGICAL_DNS, got ${countEndpoints(content)}`,
    );
  }
  checkLbPolicy(content, type, report);
}

function checkEds(content: Cluster, report: ReportFinding): void {
  const config = content.edsClusterConfig;
  if (config?.edsConfig === undefined) {
    report(
      "CLUSTER_EDS_CONFIG_MISSING",
      [],
      "expected `eds_cluster_config.eds_config` for type EDS, got none",
      "for ADS: `eds_config`: { ads: {}, `resource_api_version`: V3 }",
    );
  }
  if (content.name.startsWith("xdstp:") && !config?.serviceName) {
    report(
      "CLUSTER_SERVICE_NAME_MISSING",
      [],
      "expected `eds_cluster_config.service_name` for a name that begins with xdstp: gRPC rejects it without",
    );
  }
  if (content.loadAssignment !== undefined) {
    report(
      "CLUSTER_ENDPOINTS_UNUSED",
      ["load_assignment"],
      "expected no `load_assignment` for type EDS: its endpoints come from EDS",
    );
  }
}

function checkLbPolicy(content: Cluster, type: number | undefined, report: ReportFinding): void {
  const isProvided = content.lbPolicy === CLUSTER_PROVIDED;
  if (type === ORIGINAL_DST && !isProvided && content.loadBalancingPolicy === undefined) {
    report(
      "CLUSTER_LB_POLICY_MISMATCH",
      ["lb_policy"],
      "expected `lb_policy` CLUSTER_PROVIDED for type ORIGINAL_DST: Envoy rejects another",
    );
  }
  if (isProvided && type !== ORIGINAL_DST && type !== undefined) {
    report(
      "CLUSTER_LB_POLICY_MISMATCH",
      ["lb_policy"],
      "expected another `lb_policy`: CLUSTER_PROVIDED is for clusters that bring one",
    );
  }
}

function countEndpoints(content: Cluster): number {
  return (content.loadAssignment?.endpoints ?? []).reduce((count, locality) => count + locality.lbEndpoints.length, 0);
}
