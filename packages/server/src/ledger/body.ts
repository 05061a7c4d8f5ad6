import type { Resource } from "@xdskit/protocol";
import { parseTypeUrl } from "@xdskit/protocol";
import type { Digest } from "@xdskit/protocol/internal";
import { type ResourceRecord, recordOf, resourceOf } from "../store/resource-record.ts";

/** A resource as a ledger keeps it. */
export interface StoredBody {
  /** The digest of the bytes. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

export function encodeBody(resource: Resource, digest: Digest): StoredBody {
  const bytes = Buffer.from(JSON.stringify({ type: resource.type, ...recordOf(resource) }));
  return { id: digest([bytes]).toString(16).padStart(32, "0"), bytes };
}

/** Makes the resource again. Undefined: the bytes are not what `encodeBody` wrote. */
export function decodeBody(bytes: Uint8Array, digest: Digest): Resource | undefined {
  try {
    const { type: text, ...record } = JSON.parse(Buffer.from(bytes).toString("utf8")) as ResourceRecord & {
      readonly type: string;
    };
    const type = parseTypeUrl(text);
    return type === undefined ? undefined : resourceOf(type, record, digest);
  } catch {
    return undefined;
  }
}
