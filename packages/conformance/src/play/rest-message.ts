import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import type { Node } from "@xdskit/protocol";
import type { PlainRequest, PlainResponse } from "./driver.ts";

/** The JSON of a poll; empty fields are omitted. */
export function toJsonRequest({ typeUrl, node, nonce, error, version, names }: PlainRequest): unknown {
  return {
    ...(version !== "" && { versionInfo: version }),
    ...(node !== undefined && { node: toJsonNode(node) }),
    ...(names.length > 0 && { resourceNames: names }),
    ...(typeUrl !== "" && { typeUrl }),
    ...(nonce !== "" && { responseNonce: nonce }),
    ...(error !== undefined && { errorDetail: error }),
  };
}

function toJsonNode({ id, cluster, userAgentName, clientFeatures }: Node): unknown {
  return { id, cluster, userAgentName, clientFeatures };
}

interface JsonResponse {
  readonly versionInfo?: string;
  readonly resources?: readonly Readonly<Record<string, unknown>>[];
  readonly typeUrl?: string;
  readonly nonce?: string;
  readonly canary?: boolean;
  readonly resourceErrors?: readonly {
    readonly resourceName?: { readonly name?: string };
    readonly errorDetail?: { readonly code?: number; readonly message?: string };
  }[];
}

let api: EnvoyApi | undefined;

/** Parses the response to a poll; re-encodes its resources so that they can be compared. */
export function fromJsonResponse(body: string): PlainResponse {
  const response: JsonResponse = JSON.parse(body);
  return {
    variant: "sotw",
    isPolled: true,
    typeUrl: response.typeUrl ?? "",
    version: response.versionInfo ?? "",
    nonce: response.nonce ?? "",
    isCanary: response.canary ?? false,
    removed: [],
    errors: (response.resourceErrors ?? []).map(
      ({ resourceName, errorDetail }) => `${resourceName?.name} ${errorDetail?.code} ${errorDetail?.message}`,
    ),
    resources: (response.resources ?? []).map((resource) => ({
      name: undefined,
      version: undefined,
      aliases: [],
      typeUrl: String(resource["@type"]),
      bytes: encode(resource),
    })),
  };
}

function encode(resource: Readonly<Record<string, unknown>>): Uint8Array {
  api ??= createEnvoyApi();
  const { input } = api.readResource(resource);
  if (input !== undefined) return input.bytes;
  throw new Error(`expected a resource, got ${JSON.stringify(resource)}`);
}

/** The gRPC status code in the body of an error; UNKNOWN if there is none. */
export function codeOf(body: string): number {
  try {
    const { code }: { readonly code?: number } = JSON.parse(body);
    return code ?? 2;
  } catch {
    return 2; // not a body of an xDS server
  }
}
