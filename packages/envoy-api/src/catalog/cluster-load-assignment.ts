import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Locality } from "../../gen/types/envoy/config/core/v3/base_pb.d.ts";
import type { LocalityLbEndpoints } from "../../gen/types/envoy/config/endpoint/v3/endpoint_components_pb.d.ts";
import type { ClusterLoadAssignment } from "../../gen/types/envoy/config/endpoint/v3/endpoint_pb.d.ts";
import { isIp } from "../validation/ip-address.ts";
import { type CatalogEntry, defineEntry, type ReportFinding } from "./entry.ts";
import { resourceType } from "./resource-type.ts";

/** EDS: named by its cluster, or by that cluster's service name. */
export const clusterLoadAssignment: CatalogEntry = defineEntry<ClusterLoadAssignment>({
  message: "envoy.config.endpoint.v3.ClusterLoadAssignment",
  kind: "eds",
  shortName: "eds",
  v2Message: "envoy.api.v2.ClusterLoadAssignment",
  discovery: {
    services: { v3: "envoy.service.endpoint.v3.Endpoint", v2: "envoy.api.v2.Endpoint" },
    noun: "Endpoints",
    rest: "endpoints",
  },
  nameField: "clusterName",
  // A warming cluster needs its endpoints again, and so those that LEDS provides.
  owes: [resourceType.lbEndpoint],
  placeholder: encodeEmpty,
  namingHint: "give it the `cluster_name` that the Cluster asks for: its `service_name`, or else its name",
  check: checkEndpoints,
});

const CLUSTER_NAME = 1;

/** Encodes an assignment without endpoints, which ends the warming of a cluster that has none. */
function encodeEmpty(name: string): Uint8Array {
  return new BinaryWriter().tag(CLUSTER_NAME, WireType.LengthDelimited).string(name).finish();
}

function checkEndpoints(content: ClusterLoadAssignment, report: ReportFinding): void {
  const seenLocalities = new Map<string, number>();
  const seenAddresses = new Set<string>();
  content.endpoints.forEach((locality, index) => {
    const path = ["endpoints", index];
    checkLocality(locality, path, seenLocalities, report);
    checkAddresses(locality, path, seenAddresses, report);
  });
  checkPriorities(content.endpoints, report);
}

function checkLocality(
  group: LocalityLbEndpoints,
  path: readonly (string | number)[],
  seen: Map<string, number>,
  report: ReportFinding,
): void {
  if (group.locality === undefined) {
    if (group.loadBalancingWeight !== undefined) {
      report(
        "ENDPOINT_LOCALITY_MISSING",
        path,
        "expected a locality beside `load_balancing_weight`: gRPC clients reject it without",
      );
    }
    return;
  }
  const key = `${group.priority}/${formatLocality(group.locality)}`;
  const first = seen.get(key);
  if (first === undefined) seen.set(key, Number(path[1]));
  else {
    const message = `expected each locality once per priority, got ${formatLocality(group.locality)} in endpoints[${first}] too: gRPC clients reject it`;
    report("ENDPOINT_LOCALITY_DUPLICATE", [...path, "locality"], message);
  }
}

function formatLocality({ region, zone, subZone }: Locality): string {
  return JSON.stringify([region, zone, subZone]);
}

function checkPriorities(groups: readonly LocalityLbEndpoints[], report: ReportFinding): void {
  const present = new Set(groups.map((group) => group.priority));
  const highest = Math.max(-1, ...present);
  for (let priority = 0; priority < highest; priority++) {
    if (present.has(priority)) continue;
    report(
      "ENDPOINT_PRIORITY_GAP",
      ["endpoints"],
      `expected priorities from 0 without gaps, got ${highest} but not ${priority}: gRPC clients reject it`,
    );
    return;
  }
}

function checkAddresses(
  group: LocalityLbEndpoints,
  path: readonly (string | number)[],
  seen: Set<string>,
  report: ReportFinding,
): void {
  group.lbEndpoints.forEach((lbEndpoint, index) => {
    if (lbEndpoint.hostIdentifier.case !== "endpoint") return;
    const where = [...path, "lb_endpoints", index, "endpoint"];
    const address = lbEndpoint.hostIdentifier.value.address?.address;
    if (address === undefined || address.case === undefined) {
      report("ENDPOINT_ADDRESS_MISSING", where, "expected an address, got none");
      return;
    }
    if (address.case !== "socketAddress") return;
    const socket = address.value;
    if (!isIp(socket.address) && socket.resolverName === "") {
      report(
        "ENDPOINT_ADDRESS_NOT_IP",
        [...where, "address", "socket_address", "address"],
        `expected an IP address, got ${JSON.stringify(socket.address)}`,
        "names are resolved for a Cluster of type STRICT_DNS or LOGICAL_DNS, with the endpoints in it",
      );
    }
    const port = socket.portSpecifier.case === undefined ? "" : socket.portSpecifier.value;
    const key = `${socket.address} ${port} ${socket.protocol}`;
    if (seen.has(key)) {
      report(
        "ENDPOINT_ADDRESS_DUPLICATE",
        [...where, "address"],
        `expected each address once, got ${socket.address}:${port} again`,
      );
    }
    seen.add(key);
  });
}
