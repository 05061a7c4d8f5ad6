import { createHash } from "node:crypto";
import { parseTypeUrl } from "@xdskit/protocol";
import type { KeptResource } from "@xdskit/protocol/internal";

/** The kept resources of one source. */
export interface KeptSource {
  /** Unique per [origin](../config/source-origin.ts) and credentials. */
  readonly id: string;
  /** The last change, in milliseconds since 1970. */
  readonly savedAtMs: number;
  /** The last use by a client, in milliseconds since 1970. */
  readonly usedAtMs: number;
  readonly resources: readonly KeptResource[];
}

/** The content of a store file, or why it is not used. */
export type StoreContent = { readonly sources: readonly KeptSource[] } | { readonly problem: string };

/** The start of every file's first line; the number after it is the version of the format. */
const MAGIC = "xdskit resources";
export const HEADER: string = `${MAGIC} 2\n`;

const END = "end ";
const NEWLINE = 0x0a;
/** `end `, 64 hexadecimal digits, and a newline. */
export const TRAILER_BYTES: number = END.length + 64 + 1;

/** The first line of a source; lines of its resources follow. */
interface SourceLine {
  readonly source: string;
  readonly savedAtMs: number;
  readonly usedAtMs: number;
}

interface ResourceLine extends Pick<KeptResource, "name" | "version"> {
  readonly type: string;
  readonly bytes: string;
  readonly aliases?: readonly string[];
  readonly bodyType?: string;
}

export function formatSource({ id, savedAtMs, usedAtMs }: Omit<KeptSource, "resources">): string {
  const line: SourceLine = { source: id, savedAtMs, usedAtMs };
  return `${JSON.stringify(line)}\n`;
}

export function formatResource({ type, name, aliases, version, bytes, bodyType }: KeptResource): string {
  const line: ResourceLine = {
    type,
    name,
    version,
    ...(aliases.length > 0 && { aliases }),
    ...(bodyType !== undefined && { bodyType }),
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
  };
  return `${JSON.stringify(line)}\n`;
}

/** The last line: a checksum of everything before it. */
export function formatTrailer(checksum: string): string {
  return `${END}${checksum}\n`;
}

/** Parses a whole file; a damaged file is not used at all. Never throws. */
export function parseStore(bytes: Buffer): StoreContent {
  const headerEnd = bytes.indexOf(NEWLINE) + 1;
  const header = bytes.toString("utf8", 0, Math.min(headerEnd, 100));
  if (header !== HEADER) {
    return { problem: header.startsWith(MAGIC) ? "it is of another version of the format" : "it is none of ours" };
  }
  const bodyEnd = bytes.length - TRAILER_BYTES;
  const checksum = createHash("sha256")
    .update(bytes.subarray(0, Math.max(bodyEnd, 0)))
    .digest("hex");
  if (bodyEnd < headerEnd || bytes.toString("utf8", bodyEnd) !== formatTrailer(checksum))
    return { problem: "it is damaged" };
  try {
    return { sources: parseBody(bytes.subarray(headerEnd, bodyEnd)) };
  } catch {
    // A valid checksum with invalid content: another program wrote the file.
    return { problem: "it is damaged" };
  }
}

function parseBody(body: Buffer): readonly KeptSource[] {
  const sources: (KeptSource & { readonly resources: KeptResource[] })[] = [];
  for (let from = 0; from < body.length; ) {
    const to = body.indexOf(NEWLINE, from);
    const line = JSON.parse(body.toString("utf8", from, to)) as SourceLine | ResourceLine;
    if ("source" in line) {
      const { source: id, savedAtMs, usedAtMs } = line;
      sources.push({ id, savedAtMs, usedAtMs, resources: [] });
    } else sources.at(-1)?.resources.push(resourceOf(line));
    from = to + 1;
  }
  return sources;
}

function resourceOf({ type, name, version, bytes, aliases = [], bodyType }: ResourceLine): KeptResource {
  const typeUrl = parseTypeUrl(type);
  if (typeUrl === undefined) throw new TypeError("expected a type");
  const bodyTypeUrl = bodyType === undefined ? undefined : parseTypeUrl(bodyType);
  return {
    type: typeUrl,
    name,
    version,
    aliases,
    bytes: Buffer.from(bytes, "base64"),
    ...(bodyTypeUrl !== undefined && { bodyType: bodyTypeUrl }),
  };
}
