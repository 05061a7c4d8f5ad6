/**
 * Encodes and decodes `DiscoveryResponse` and `DeltaDiscoveryResponse` for clients; the server encodes its responses
 * with the body encoder. Absent text is "", as on the wire; bytes are views of the response.
 */
import { type AnyMessage, readAny, writeAny } from "./any.ts";
import { lengthTag, varintTag, WireReader } from "./reader.ts";
import {
  type ResourceErrorMessage,
  type ResourceMessage,
  readResource,
  readResourceError,
  writeResource,
  writeResourceError,
} from "./resource-message.ts";
import { type ResourceNameMessage, readResourceName, writeResourceName } from "./resource-name.ts";
import { WireWriter } from "./writer.ts";

/** A decoded `DiscoveryResponse`. */
export interface DiscoveryResponseMessage {
  readonly versionInfo: string;
  readonly resources: readonly AnyMessage[];
  readonly canary: boolean;
  readonly typeUrl: string;
  readonly nonce: string;
  /** The control plane identifier; undefined if there is none. */
  readonly controlPlane: string | undefined;
  readonly resourceErrors: readonly ResourceErrorMessage[];
}

/** A decoded `DeltaDiscoveryResponse`. */
export interface DeltaDiscoveryResponseMessage {
  readonly systemVersionInfo: string;
  readonly resources: readonly ResourceMessage[];
  readonly typeUrl: string;
  readonly nonce: string;
  readonly removedResources: readonly string[];
  readonly controlPlane: string | undefined;
  readonly removedResourceNames: readonly ResourceNameMessage[];
  readonly resourceErrors: readonly ResourceErrorMessage[];
}

/** A delta response to encode; absent fields are omitted. */
export type DeltaDiscoveryResponseInput = Omit<Partial<DeltaDiscoveryResponseMessage>, "resources"> & {
  readonly resources?: readonly Partial<ResourceMessage>[];
};

/**
 * Decodes a `DiscoveryResponse`.
 *
 * @throws {WireError} if the bytes are not a `DiscoveryResponse`
 */
export function decodeSotwResponse(bytes: Uint8Array): DiscoveryResponseMessage {
  const reader = new WireReader(bytes);
  let versionInfo = "";
  const resources: AnyMessage[] = [];
  let canary = false;
  let typeUrl = "";
  let nonce = "";
  let controlPlane: string | undefined;
  const resourceErrors: ResourceErrorMessage[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case lengthTag(1):
        versionInfo = reader.string();
        break;
      case lengthTag(2):
        resources.push(readAny(reader.message()));
        break;
      case varintTag(3):
        canary = reader.bool();
        break;
      case lengthTag(4):
        typeUrl = reader.string();
        break;
      case lengthTag(5):
        nonce = reader.string();
        break;
      case lengthTag(6):
        controlPlane = readControlPlane(reader.message());
        break;
      case lengthTag(7):
        resourceErrors.push(readResourceError(reader.message()));
        break;
      default:
        reader.skip(tag);
    }
  }
  return { versionInfo, resources, canary, typeUrl, nonce, controlPlane, resourceErrors };
}

/**
 * Decodes a `DeltaDiscoveryResponse`.
 *
 * @throws {WireError} if the bytes are not a `DeltaDiscoveryResponse`
 */
export function decodeDeltaResponse(bytes: Uint8Array): DeltaDiscoveryResponseMessage {
  const reader = new WireReader(bytes);
  let systemVersionInfo = "";
  const resources: ResourceMessage[] = [];
  let typeUrl = "";
  let nonce = "";
  const removedResources: string[] = [];
  let controlPlane: string | undefined;
  const removedResourceNames: ResourceNameMessage[] = [];
  const resourceErrors: ResourceErrorMessage[] = [];
  while (reader.hasMore) {
    const tag = reader.tag();
    switch (tag) {
      case lengthTag(1):
        systemVersionInfo = reader.string();
        break;
      case lengthTag(2):
        resources.push(readResource(reader.message()));
        break;
      case lengthTag(4):
        typeUrl = reader.string();
        break;
      case lengthTag(5):
        nonce = reader.string();
        break;
      case lengthTag(6):
        removedResources.push(reader.string());
        break;
      case lengthTag(7):
        controlPlane = readControlPlane(reader.message());
        break;
      case lengthTag(8):
        removedResourceNames.push(readResourceName(reader.message()));
        break;
      case lengthTag(9):
        resourceErrors.push(readResourceError(reader.message()));
        break;
      default:
        reader.skip(tag);
    }
  }
  return {
    systemVersionInfo,
    resources,
    typeUrl,
    nonce,
    removedResources,
    controlPlane,
    removedResourceNames,
    resourceErrors,
  };
}

/** Encodes a `DiscoveryResponse` in field order; omits absent fields. */
export function encodeSotwResponse(message: Partial<DiscoveryResponseMessage>): Uint8Array {
  const writer = new WireWriter().optionalString(1, message.versionInfo);
  for (const resource of message.resources ?? []) writer.message(2, (inner) => writeAny(inner, resource));
  writer.bool(3, message.canary).optionalString(4, message.typeUrl).optionalString(5, message.nonce);
  writeControlPlane(writer, 6, message.controlPlane);
  for (const error of message.resourceErrors ?? []) writer.message(7, (inner) => writeResourceError(inner, error));
  return writer.finish();
}

/** Encodes a `DeltaDiscoveryResponse` in field order; omits absent fields. */
export function encodeDeltaResponse(message: DeltaDiscoveryResponseInput): Uint8Array {
  const writer = new WireWriter().optionalString(1, message.systemVersionInfo);
  for (const resource of message.resources ?? []) writer.message(2, (inner) => writeResource(inner, resource));
  writer.optionalString(4, message.typeUrl).optionalString(5, message.nonce).strings(6, message.removedResources);
  writeControlPlane(writer, 7, message.controlPlane);
  for (const name of message.removedResourceNames ?? []) writer.message(8, (inner) => writeResourceName(inner, name));
  for (const error of message.resourceErrors ?? []) writer.message(9, (inner) => writeResourceError(inner, error));
  return writer.finish();
}

function readControlPlane(reader: WireReader): string {
  let identifier = "";
  while (reader.hasMore) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) identifier = reader.string();
    else reader.skip(tag);
  }
  return identifier;
}

function writeControlPlane(writer: WireWriter, field: number, identifier: string | undefined): void {
  if (identifier !== undefined) writer.message(field, (inner) => inner.optionalString(1, identifier));
}
