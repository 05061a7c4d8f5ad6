import type { EnvoyApi } from "@xdskit/envoy-api";
import { statusCode } from "@xdskit/protocol/internal";
import { bytesField, type Field, readFields, stringField, varintField } from "./fields.ts";
import type { GrpcMethod } from "./method.ts";
import { answerEach, type MessagePieces } from "./simple-call.ts";

export const REFLECTION_SERVICES: readonly string[] = [
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];

/** Field numbers of `ServerReflectionRequest` and `ServerReflectionResponse`, equal in v1 and v1alpha. */
const request = { fileByName: 3, fileContaining: 4, fileContainingExtension: 5, extensionNumbers: 6, listServices: 7 };
const response = { validHost: 1, originalRequest: 2, files: 4, services: 6, error: 7 };

/** Cached responses, most recently used, about 100 KB each. */
const MOST_KEPT = 32;
/** Longest part of an unknown name in an error message. */
const LONGEST_SHOWN = 200;

/**
 * Server reflection over the descriptors of the API, for tools like `grpcurl`. `services` lists the served services.
 */
export function reflectionMethods(api: EnvoyApi, services: readonly string[]): ReadonlyMap<string, GrpcMethod> {
  const answer = createReflectionAnswers(api, services);
  const method: GrpcMethod = (call) => answerEach(call, answer);
  return new Map(REFLECTION_SERVICES.map((service) => [`/${service}/ServerReflectionInfo`, method]));
}

/** Answers `ServerReflectionRequest` messages in order. Shared parts are built once and reused. */
export function createReflectionAnswers(
  { reflection }: Pick<EnvoyApi, "reflection">,
  services: readonly string[],
): (request: Uint8Array) => MessagePieces {
  const kept = new Map<readonly Uint8Array[], Uint8Array>();
  const listed = formatServices(services);
  const formatFiles = (files: readonly Uint8Array[] | undefined, what: string): Uint8Array => {
    if (files === undefined) return formatError(statusCode.NOT_FOUND, `${what.slice(0, LONGEST_SHOWN)} is not known`);
    const body = kept.get(files) ?? bytesField(response.files, Buffer.concat(files.map((file) => bytesField(1, file))));
    kept.delete(files);
    kept.set(files, body);
    for (const oldest of kept.keys()) {
      if (kept.size <= MOST_KEPT) break;
      kept.delete(oldest);
    }
    return body;
  };
  const answerTo = (fields: readonly Field[]): Uint8Array => {
    const asked = fields.findLast(
      ({ number }) => number >= request.fileByName && number <= request.listServices,
    )?.number;
    switch (asked) {
      case request.listServices:
        return listed;
      case request.fileByName: {
        const name = stringField(fields, request.fileByName);
        return formatFiles(reflection.fileByName(name), `file "${name}"`);
      }
      case request.fileContaining: {
        const symbol = stringField(fields, request.fileContaining);
        return formatFiles(reflection.fileContaining(symbol), `symbol "${symbol}"`);
      }
      default:
        return formatError(statusCode.UNIMPLEMENTED, "only files, symbols and services can be asked for");
    }
  };
  return (bytes) => {
    const fields = readFields(bytes);
    const head = Buffer.concat([
      bytesField(response.validHost, stringField(fields, 1)),
      bytesField(response.originalRequest, bytes),
    ]);
    const body = answerTo(fields);
    return { pieces: [head, body], byteLength: head.byteLength + body.byteLength };
  };
}

function formatServices(services: readonly string[]): Uint8Array {
  return bytesField(response.services, Buffer.concat(services.map((service) => bytesField(1, bytesField(1, service)))));
}

function formatError(code: number, message: string): Uint8Array {
  return bytesField(response.error, Buffer.concat([varintField(1, code), bytesField(2, message)]));
}
