/**
 * Fields that v3 dropped in favour of another field. Without the move, a client would go without TLS, or without
 * endpoints.
 */
import { formatTypeUrl } from "@xdskit/protocol";
import { writeAny } from "../wire/any.ts";
import { lengthTag, WireReader } from "../wire/reader.ts";
import { WireWriter } from "../wire/writer.ts";

/** A v2 field that becomes another field in v3, unless that one is set too: v2 ignores the old field then. */
export interface MovedField {
  /** The full name of the v3 message. */
  readonly message: string;
  readonly name: string;
  readonly newName: string;
  /** Writes the new field from the converted occurrences of the old one and the whole message. */
  readonly write: (contents: readonly Uint8Array[], message: Uint8Array) => Uint8Array;
}

const CLUSTER = "envoy.config.cluster.v3.Cluster";
const TLS = "envoy.extensions.transport_sockets.tls.v3";

export const movedFields: readonly MovedField[] = [
  tlsContext(CLUSTER, `${TLS}.UpstreamTlsContext`),
  tlsContext("envoy.config.listener.v3.FilterChain", `${TLS}.DownstreamTlsContext`),
  { message: CLUSTER, name: "hosts", newName: "load_assignment", write: writeLoadAssignment },
];

function tlsContext(message: string, context: string): MovedField {
  const typeUrl = formatTypeUrl(context);
  return {
    message,
    name: "tls_context",
    newName: "transport_socket",
    // Repeated occurrences of a message field are merged; concatenating their bytes does that.
    write: (contents) =>
      new WireWriter()
        .string(1, "envoy.transport_sockets.tls")
        .message(3, (any) => writeAny(any, { typeUrl, value: Buffer.concat(contents) }))
        .finish(),
  };
}

/** Puts all hosts of a Cluster in one locality. */
function writeLoadAssignment(hosts: readonly Uint8Array[], cluster: Uint8Array): Uint8Array {
  return new WireWriter()
    .optionalString(1, nameOf(cluster))
    .message(2, (locality) => {
      for (const host of hosts) {
        locality.message(2, (lbEndpoint) => lbEndpoint.message(1, (endpoint) => endpoint.bytes(1, host)));
      }
    })
    .finish();
}

function nameOf(cluster: Uint8Array): string {
  let name = "";
  for (const reader = new WireReader(cluster); reader.hasMore; ) {
    const tag = reader.tag();
    if (tag === lengthTag(1)) name = reader.string();
    else reader.skip(tag);
  }
  return name;
}
