import { createEnvoyApi } from "@xdskit/envoy-api";
import { decodeDeltaResponse, decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { ENDPOINTS, names } from "./views.ts";

/** A resource as a client received it. */
export interface Put {
  readonly name: string;
  readonly version: string;
  /** Undefined for the placeholder that the server sends while a Cluster has no endpoints. */
  readonly label: string | undefined;
}

/** A response of either variant. */
export interface Answer {
  readonly type: string;
  readonly version: string;
  readonly nonce: string;
  readonly puts: readonly Put[];
  readonly removed: readonly string[];
}

const text = new TextDecoder();
const placeholder = createEnvoyApi().traits(ENDPOINTS)?.placeholder;
const placeholders = new Map(names.map((name) => [text.decode(placeholder?.(name)), name]));

export function readDelta(message: Uint8Array): Answer {
  const { typeUrl, nonce, resources, removedResources } = decodeDeltaResponse(message);
  const puts = resources.flatMap(({ version, resource }) =>
    resource === undefined ? [] : [read(resource.value, version)],
  );
  return { type: typeUrl, nonce, version: "", puts, removed: removedResources };
}

export function readSotw(message: Uint8Array): Answer {
  const { typeUrl, nonce, versionInfo, resources } = decodeSotwResponse(message);
  return {
    type: typeUrl,
    nonce,
    version: versionInfo,
    puts: resources.map(({ value }) => read(value, "")),
    removed: [],
  };
}

function read(bytes: Uint8Array, version: string): Put {
  const body = text.decode(bytes);
  const placeheld = placeholders.get(body);
  if (placeheld !== undefined) return { name: placeheld, version, label: undefined };
  const [name = "", label = ""] = body.split("=");
  return { name, version, label };
}
