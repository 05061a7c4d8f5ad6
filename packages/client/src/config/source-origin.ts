import type { Node } from "@xdskit/protocol";
import type { ServerConfig, SourceConfig } from "./client-config.ts";
import { canonicalText, shortDigest } from "./content-digest.ts";

/**
 * What decides which resources a source has, as one text: who is asked, and who asks. What is kept on disk goes by it, so it is the same in every process and
 * release.
 *
 * - Who is asked: the addresses of the servers in order, the names that they go by there (`authority`, the name in the certificate), the kind of calls and of
 *   versions; or the path of a file. Not the name of the server's cluster in a bootstrap.
 * - Who asks: the `id` and the `cluster` of the node. A node whose id is another one at each start is another node each time.
 * - What is said with each call: parameters, and headers, for there are servers that tell tenants apart by one. Not headers whose name says that they
 *   are credentials, and no certificates and keys: those change, and the server and what it has stay the same. Whose credentials alone say who asks is to
 *   give its nodes ids, or its clients a file each.
 *
 * Nothing of how a server is spoken to counts: times, limits, back-off, dialect.
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

/** Enough for all that one disk has ever held. */
const DIGEST_CHARACTERS = 16;

/** Words in the names of headers, of which one makes it a credential. */
const CREDENTIAL = new Set(
  "auth authentication authorization apikey bearer cookie credential credentials jwt key password secret session signature ticket token".split(
    " ",
  ),
);

/** A version of State of the World means nothing to delta, and the other way round. */
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

/** So that a field that is new one day changes nothing where it is not set. */
function present(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function isCredential(header: string): boolean {
  return header
    .toLowerCase()
    .split(/[^a-z0-9]/)
    .some((word) => CREDENTIAL.has(word));
}
