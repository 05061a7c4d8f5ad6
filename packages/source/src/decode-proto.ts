import type { ReadResult, ResourceWrapper } from "@xdskit/envoy-api";
import { contentDigest } from "@xdskit/envoy-api";
import type { ResourceErrorMessage } from "@xdskit/envoy-api/internal";
import { decodeResource, decodeSotwResponse, WireError } from "@xdskit/envoy-api/internal";
import { createResource, createResourceError, messageNameOf, parseTypeUrl } from "@xdskit/protocol";
import type { DecodedResource } from "./decoded-resource.ts";
import { emptyFile } from "./document/file-text.ts";
import { readResponseErrors } from "./document/response-errors.ts";
import { anythingRefused, type FileContent } from "./file-content.ts";
import { type Problem, unplacedProblem } from "./problem.ts";
import { type Decoding, readEncoded } from "./read-resource.ts";

const RESOURCE_WRAPPER = "envoy.service.discovery.v3.Resource";

/** Decodes a binary DiscoveryResponse. Resources are served with their original bytes, including unknown fields. */
export function decodeProto(file: string, bytes: Uint8Array, decoding: Decoding): FileContent {
  if (bytes.length === 0) return { resources: [], problems: [emptyFile(file)], refused: anythingRefused };
  const resources: DecodedResource[] = [];
  const problems: Problem[] = [];
  let isWhole = true;
  try {
    const response = decodeSotwResponse(bytes);
    const stated = readResponseErrors(response.resourceErrors.map(plainError), "resource_errors", response.typeUrl);
    for (const trouble of stated.troubles) problems.push(unplacedProblem(file, { ...trouble, severity: "error" }));
    if (stated.troubles.length > 0) isWhole = false;
    for (const error of stated.errors)
      resources.push({ resource: createResourceError(error, contentDigest), place: undefined });
    for (const [index, any] of response.resources.entries()) {
      const { input, problems: found } = readAny(any.typeUrl, any.value, decoding);
      const path = ["resources", index];
      for (const problem of found)
        problems.push(unplacedProblem(file, { ...problem, path: [...path, ...problem.path] }));
      if (input === undefined) isWhole = false;
      else resources.push({ resource: createResource(input, contentDigest), place: undefined });
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { resources: [], problems: [notAResponse(file)], refused: anythingRefused };
  }
  return { resources, problems, refused: isWhole ? [] : anythingRefused };
}

/** The JSON form, as in other formats. */
function plainError({ resourceName, errorDetail }: ResourceErrorMessage): unknown {
  const { code, message } = errorDetail;
  return { resource_name: { name: resourceName.name }, error_detail: { code, message } };
}

function notAResponse(file: string): Problem {
  return {
    code: "PROTO_MALFORMED",
    severity: "error",
    file,
    message: "expected an encoded envoy.service.discovery.v3.DiscoveryResponse, got other bytes",
    hint: "put a resource of any other message into the resources of a DiscoveryResponse; the file may also be cut off",
  };
}

function readAny(typeUrl: string, value: Uint8Array, decoding: Decoding): ReadResult {
  const type = parseTypeUrl(typeUrl);
  if (type === undefined) return refuseEncoded("TYPE_MISSING", 'expected a "type_url" in the resource, got none');
  if (messageNameOf(type) === RESOURCE_WRAPPER) return readWrapped(value, decoding);
  return readEncoded(type, value, undefined, decoding);
}

function readWrapped(value: Uint8Array, decoding: Decoding): ReadResult {
  const wrapped = decodeResource(value);
  const type = parseTypeUrl(wrapped.resource?.typeUrl ?? "");
  if (wrapped.resource === undefined || type === undefined) {
    return refuseEncoded("TYPE_MISSING", "expected a resource in the Resource around it, got none");
  }
  const wrapper: ResourceWrapper = {
    ...(wrapped.name === "" ? {} : { name: wrapped.name }),
    ...(wrapped.aliases.length === 0 ? {} : { aliases: wrapped.aliases }),
    ...(wrapped.ttlMs === undefined ? {} : { ttlMs: wrapped.ttlMs }),
    ...(wrapped.doNotCache ? { doNotCache: true } : {}),
    ...(wrapped.metadata === undefined ? {} : { metadata: wrapped.metadata }),
  };
  return readEncoded(type, wrapped.resource.value, wrapper, decoding);
}

function refuseEncoded(code: "TYPE_MISSING", message: string): ReadResult {
  return { input: undefined, problems: [{ code, severity: "error", path: [], message }] };
}
