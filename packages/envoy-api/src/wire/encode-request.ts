/**
 * Encodes `DiscoveryRequest` and `DeltaDiscoveryRequest` for clients; the server decodes them with the request reader.
 * Every field is optional; the bytes equal those of any encoder that writes in field order.
 */
import type { Node, Status } from "@xdskit/protocol";
import { encodeNode } from "./node.ts";
import { type ResourceLocatorMessage, writeResourceLocator, writeTextEntry } from "./resource-name.ts";
import { type StatusMessage, writeStatus } from "./status.ts";
import { WireWriter } from "./writer.ts";

/** A `DiscoveryRequest` to encode. */
export interface SotwRequestMessage {
  readonly versionInfo?: string | undefined;
  /** A `Node`, or encoded bytes, which may have fields that `Node` lacks. */
  readonly node?: Node | Uint8Array | undefined;
  readonly resourceNames?: readonly string[] | undefined;
  readonly typeUrl?: string | undefined;
  readonly responseNonce?: string | undefined;
  /** Makes it a NACK, even if the status is empty. */
  readonly errorDetail?: (Status & Partial<StatusMessage>) | undefined;
  readonly resourceLocators?: readonly ResourceLocatorMessage[] | undefined;
}

/** A `DeltaDiscoveryRequest` to encode. */
export interface DeltaRequestMessage {
  readonly node?: Node | Uint8Array | undefined;
  readonly typeUrl?: string | undefined;
  readonly resourceNamesSubscribe?: readonly string[] | undefined;
  readonly resourceNamesUnsubscribe?: readonly string[] | undefined;
  /** Pairs of name and version. */
  readonly initialResourceVersions?: Iterable<readonly [name: string, version: string]> | undefined;
  readonly responseNonce?: string | undefined;
  readonly errorDetail?: (Status & Partial<StatusMessage>) | undefined;
  readonly resourceLocatorsSubscribe?: readonly ResourceLocatorMessage[] | undefined;
  readonly resourceLocatorsUnsubscribe?: readonly ResourceLocatorMessage[] | undefined;
}

/** Encodes a `DiscoveryRequest`. */
export function encodeSotwRequest(message: SotwRequestMessage): Uint8Array {
  const writer = new WireWriter().optionalString(1, message.versionInfo);
  writeNode(writer, 2, message.node);
  writer.strings(3, message.resourceNames).optionalString(4, message.typeUrl).optionalString(5, message.responseNonce);
  writeErrorDetail(writer, 6, message.errorDetail);
  writeLocators(writer, 7, message.resourceLocators);
  return writer.finish();
}

/** Encodes a `DeltaDiscoveryRequest`. */
export function encodeDeltaRequest(message: DeltaRequestMessage): Uint8Array {
  const writer = new WireWriter();
  writeNode(writer, 1, message.node);
  writer.optionalString(2, message.typeUrl).strings(3, message.resourceNamesSubscribe);
  writer.strings(4, message.resourceNamesUnsubscribe);
  for (const [name, version] of message.initialResourceVersions ?? []) writeTextEntry(writer, 5, name, version);
  writer.optionalString(6, message.responseNonce);
  writeErrorDetail(writer, 7, message.errorDetail);
  writeLocators(writer, 8, message.resourceLocatorsSubscribe);
  writeLocators(writer, 9, message.resourceLocatorsUnsubscribe);
  return writer.finish();
}

function writeNode(writer: WireWriter, field: number, node: Node | Uint8Array | undefined): void {
  if (node !== undefined) writer.bytes(field, node instanceof Uint8Array ? node : encodeNode(node));
}

function writeErrorDetail(
  writer: WireWriter,
  field: number,
  error: (Status & Partial<StatusMessage>) | undefined,
): void {
  if (error !== undefined) writer.message(field, (inner) => writeStatus(inner, error));
}

function writeLocators(
  writer: WireWriter,
  field: number,
  locators: readonly ResourceLocatorMessage[] | undefined,
): void {
  for (const locator of locators ?? []) writer.message(field, (inner) => writeResourceLocator(inner, locator));
}
