import type { MeshResource, MeshSnapshot } from "@xdskit/client";
import type { EnvoyApi, FieldProblemCode } from "@xdskit/envoy-api";
import { shortNameOf } from "../../discovery/mesh-words.ts";
import type { Finding } from "./finding.ts";

/** Problems that Envoy tolerates and gRPC clients reject. */
const REFUSED_BY_GRPC: ReadonlySet<FieldProblemCode> = new Set([
  "LISTENER_API_LISTENER_INVALID",
  "CLUSTER_SERVICE_NAME_MISSING",
  "ENDPOINT_LOCALITY_MISSING",
  "ENDPOINT_LOCALITY_DUPLICATE",
  "ENDPOINT_PRIORITY_GAP",
]);

/** Findings for resources that are valid, and that gRPC clients reject. */
export function grpcFindings(snapshot: MeshSnapshot, api: EnvoyApi): readonly Finding[] {
  const ofListeners = [...snapshot.listeners.values()].flatMap((one) =>
    one.resource !== undefined && one.resource.json.apiListener === undefined && !isOfServer(one.name)
      ? [findingOf(one, "expected an api_listener, as Listeners for clients have", api)]
      : [],
  );
  const ofAll = [...snapshot.all.values()].flatMap((one) => {
    const bytes = one.resource?.bytes;
    if (bytes === undefined) return [];
    const { problems } = api.readEncodedResource(one.type, bytes);
    return problems.filter(({ code }) => REFUSED_BY_GRPC.has(code)).map(({ message }) => findingOf(one, message, api));
  });
  const ofGroups = [...snapshot.endpoints.values()].flatMap((one) =>
    (one.resource?.json.endpoints ?? []).flatMap((group, index) => {
      const message = groupMessage(group, index);
      return message === undefined ? [] : [findingOf(one, message, api)];
    }),
  );
  return [...ofListeners, ...ofAll, ...ofGroups];
}

/**
 * What a group of endpoints lacks for gRPC. Envoy needs neither, so it is no problem of the resource; a weight without a
 * locality is one.
 */
function groupMessage(
  { locality, loadBalancingWeight }: { readonly locality?: unknown; readonly loadBalancingWeight?: unknown },
  index: number,
): string | undefined {
  if (locality === undefined && loadBalancingWeight === undefined)
    return `expected a locality and a load_balancing_weight in endpoints[${index}]`;
  if (locality !== undefined && loadBalancingWeight === undefined)
    return `expected a load_balancing_weight in endpoints[${index}]: gRPC ignores its endpoints without`;
  return undefined;
}

/** gRPC servers subscribe to Listeners by listening address. */
function isOfServer(name: string): boolean {
  return name.includes("xds.resource.listening_address=");
}

function findingOf({ type, name }: MeshResource, message: string, api: EnvoyApi): Finding {
  return {
    severity: "error",
    code: "GRPC_REFUSES",
    type,
    name,
    message: `${shortNameOf(type, api)} ${name}: ${message}`,
  };
}
