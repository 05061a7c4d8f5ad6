import type { DiscoveryRequest, InitialVersions } from "../../message/request.ts";
import { bytesOfNode } from "./node-cost.ts";

const REQUEST_BYTES = 512;
/** A name's string and its place in a list. */
const NAME_BYTES = 48;
/** A name's place in a set. */
const DISTINCT_BYTES = 40;
/** Texts that are not Latin-1 take two bytes for each character, of which most may have had one byte. */
const TEXT_FACTOR = 2;

/** The memory that listed versions take; `isCompared`: perhaps with the names of all of them. */
export function bytesOfVersions({ size, byteLength = 0 }: InitialVersions, isCompared: boolean): number {
  return isCompared ? TEXT_FACTOR * byteLength + size * (NAME_BYTES + DISTINCT_BYTES) : byteLength;
}

/**
 * The memory that a decoded request takes, in bytes: an upper bound, of which a message of `messageBytes` in short names
 * takes twenty times as much.
 */
export function bytesOfRequest(request: DiscoveryRequest, messageBytes: number): number {
  const { node } = request;
  const names = request.kind === "sotw" ? request.names.length : request.subscribe.length + request.unsubscribe.length;
  const distinct = request.kind === "delta" ? (request.distinct?.size ?? 0) : 0;
  const lists = names * NAME_BYTES + distinct * DISTINCT_BYTES;
  return REQUEST_BYTES + TEXT_FACTOR * messageBytes + lists + (node === undefined ? 0 : bytesOfNode(node));
}
