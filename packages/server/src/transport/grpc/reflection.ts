import type { EnvoyApi } from "@xdskit/envoy-api";
import { statusCode } from "@xdskit/protocol";
import { bytesField, type Field, readFields, stringField, varintField } from "./fields.ts";
import type { GrpcMethod } from "./method.ts";
import { answerEach } from "./simple-call.ts";

export const REFLECTION_SERVICES: readonly string[] = [
  "grpc.reflection.v1.ServerReflection",
  "grpc.reflection.v1alpha.ServerReflection",
];

/** The numbers in `ServerReflectionRequest` and `ServerReflectionResponse`, which v1 and v1alpha share. */
const request = { fileByName: 3, fileContaining: 4, fileContainingExtension: 5, extensionNumbers: 6, listServices: 7 };
const response = { validHost: 1, originalRequest: 2, files: 4, services: 6, error: 7 };

/** Server reflection over the descriptors of the API, for `grpcurl` and its like. `services` are those that are served here. */
export function reflectionMethods(api: EnvoyApi, services: readonly string[]): ReadonlyMap<string, GrpcMethod> {
  const method: GrpcMethod = (call) => answerEach(call, (bytes) => answer(api, services, bytes));
  return new Map(REFLECTION_SERVICES.map((service) => [`/${service}/ServerReflectionInfo`, method]));
}

function answer(api: EnvoyApi, services: readonly string[], bytes: Uint8Array): Uint8Array {
  const fields = readFields(bytes);
  return Buffer.concat([
    bytesField(response.validHost, stringField(fields, 1)),
    bytesField(response.originalRequest, bytes),
    answerTo(api, services, fields),
  ]);
}

function answerTo({ reflection }: EnvoyApi, services: readonly string[], fields: readonly Field[]): Uint8Array {
  const asked = fields.findLast(({ number }) => number >= request.fileByName && number <= request.listServices)?.number;
  switch (asked) {
    case request.listServices: {
      const entries = services.map((service) => bytesField(1, bytesField(1, service)));
      return bytesField(response.services, Buffer.concat(entries));
    }
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
}

function formatFiles(files: readonly Uint8Array[] | undefined, what: string): Uint8Array {
  if (files === undefined) return formatError(statusCode.NOT_FOUND, `${what} is not known`);
  return bytesField(response.files, Buffer.concat(files.map((file) => bytesField(1, file))));
}

function formatError(code: number, message: string): Uint8Array {
  return bytesField(response.error, Buffer.concat([varintField(1, code), bytesField(2, message)]));
}
