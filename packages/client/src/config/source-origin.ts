import type { Node } from "@xdskit/protocol";
import type { ServerConfig, SourceConfig } from "./client-config.ts";
import { canonicalText, shortDigest } from "./content-digest.ts";

/**
 * Identifies, as one text, what decides which resources a source has: the servers and the client. Resources on disk are
 * keyed by it, so it is the same in every process and release.
 *
 * - Servers: their addresses in order, the names used for them (`authority`, the name in the certificate), and the kind
 *   and API version of calls; or the path of a file. Not the name of the server's cluster in a bootstrap.
 * - Client: the `id` and `cluster` of the node. A node with a new id at each start is a new node each time.
 * - Data sent with each call: parameters, and headers, because some servers tell tenants apart by one. Not headers
 *   whose names mark them as credentials, nor certificates and keys: those change while the server's resources do not.
 *   Clients that differ only in credentials need different node ids, or a file each.
 *
 * Protocol settings do not count: timeouts, limits, back-off, dialect.
 */
export function sourceOrigin(source: SourceConfig, node: Pick<Node, "id" | "cluster">): string {
  const { id, cluster } = node;
  const where = source.kind === "file" ? source.path : source.servers.map(({ target }) => target).join(",");
  const readable = `${callsOf(source)}:${where} for ${JSON.stringify(id)}`;
  const rest = {
    cluster,
    parameters: source.parameters,
    servers: source.kind === "file" ? [] : source.servers.map(heardBy),
  };
  return `${readable}#${shortDigest(rest, DIGEST_CHARACTERS)}`;
}

/** Long enough for all origins that a disk ever holds. */
const DIGEST_CHARACTERS = 16;

/** Words in a header's name that mark it as a credential. */
const CREDENTIAL = new Set(
  "auth authentication authorization apikey bearer cookie credential credentials jwt key password secret session signature ticket token".split(
    " ",
  ),
);

/** SotW and delta versions are not interchangeable. */
function callsOf(source: SourceConfig): string {
  if (source.kind === "file") return "file";
  const { apiVersion } = source;
  if (source.kind === "rest") return `rest-${apiVersion}`;
  return `${source.isAggregated ? "ads" : "grpc"}-${source.variant}-${apiVersion}`;
}

function heardBy({ authority, tls, headers }: ServerConfig): object {
  const told = headers.filter(([name]) => !isCredential(name)).map(([name, value]) => [name.toLowerCase(), value]);
  return present({ authority, serverName: tls?.serverName, headers: told.map(canonicalText).sort() });
}

/** Only the set fields, so that a field added later changes nothing where it is unset. */
function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isCredential(header: string): boolean {
  return header
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .some((word) => CREDENTIAL.has(word));
}
