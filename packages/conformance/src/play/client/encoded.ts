import {
  type AnyMessage,
  encodeConstraints,
  encodeDeltaResponse,
  encodeResource,
  encodeSotwResponse,
  type ResourceErrorMessage,
  type ResourceMessage,
} from "@xdskit/envoy-api/internal";
import { formatTypeUrl, type Variant } from "@xdskit/protocol";
import type { ScriptedResource } from "../../client-case.ts";
import { type TypeName, urlOf } from "../../content/catalog.ts";
import type { PlainScripted } from "./driver.ts";
import { detailed, errorIn, partsOf } from "./received.ts";
import type { Labels } from "./rendered.ts";

const WRAPPER = formatTypeUrl("envoy.service.discovery.v3.Resource");

/** Encodes a scripted response for the wire. */
export function encodeScripted(response: PlainScripted, variant: Variant, labels: Labels): Uint8Array {
  const { type, version = "", nonce = "", removed = [], from } = response;
  const resources = (response.resources ?? []).map(detailed);
  const common = {
    typeUrl: urlOf(type),
    nonce,
    resourceErrors: (response.errors ?? []).map(errorMessage),
    ...(from === undefined ? {} : { controlPlane: from }),
  };
  if (variant === "sotw") {
    const bodies = resources.map((resource) => anyOf(resource, type, labels));
    return encodeSotwResponse({
      ...common,
      versionInfo: version,
      resources: bodies,
      canary: response.isCanary === true,
    });
  }
  return encodeDeltaResponse({
    ...common,
    systemVersionInfo: version,
    removedResources: removed,
    resources: resources.map((resource) => messageOf(resource, type, labels)),
  });
}

function errorMessage(text: string): ResourceErrorMessage {
  const { name, error } = errorIn(text);
  return { resourceName: { name }, errorDetail: { ...error, details: [] } };
}

/** In SotW, a resource needs a wrapper only for fields that a bare one does not have. */
function anyOf(resource: ScriptedResource, type: TypeName, labels: Labels): AnyMessage {
  const { is, isWrapped, version, ttl, aliases, when } = resource;
  const body = bodyOf(resource, type, labels);
  const saysMore = isWrapped ?? [version, ttl, aliases, when, resource.doNotCache].some((each) => each !== undefined);
  if (body !== undefined && !saysMore) return body;
  const message = messageOf({ ...resource, version: version ?? "" }, type, labels);
  if (partsOf(is).name === "") throw new Error(`a resource without a name: ${is}`);
  return { typeUrl: WRAPPER, value: encodeResource(message) };
}

function messageOf(resource: ScriptedResource, type: TypeName, labels: Labels): Partial<ResourceMessage> {
  const { is, version, aliases = [], ttl, when } = resource;
  const { name, label = "" } = partsOf(is);
  return {
    ...(when === undefined
      ? { name }
      : { resourceName: { name, dynamicParameterConstraints: encodeConstraints(when) } }),
    version: version ?? label,
    resource: bodyOf(resource, type, labels),
    aliases,
    ttlMs: ttl,
    ...(resource.doNotCache === true && { doNotCache: true }),
  };
}

function bodyOf({ is, type, isBad }: ScriptedResource, expected: TypeName, labels: Labels): AnyMessage | undefined {
  const { label } = partsOf(is);
  if (label === undefined) return undefined;
  const own = type ?? expected;
  return { typeUrl: urlOf(own), value: labels.encode(own, isBad === true ? `${is} ${REFUSED}` : is) };
}

/** Content that the validators of a client target must reject. */
export const REFUSED = "of the kind that is refused";
