/** What v3 has given up because another of its fields can say the same: whoever passes over it would go without TLS, or without endpoints. */
import { formatTypeUrl } from "@xdskit/protocol";
import { writeAny } from "../wire/any.ts";
import { lengthTag, WireReader } from "../wire/reader.ts";
import { WireWriter } from "../wire/writer.ts";

/** A field of a message of v2 that becomes another one in v3, unless that one is given too: then v2 passes over the old one. */
export interface MovedField {
  /** The full name of the message in v3. */
  readonly message: string;
  readonly name: string;
  readonly newName: string;
  /** The content of the new field, of that of the old one in v3, each time it occurs, and of the whole message. */
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
    // Messages of a field that occurs more than once are merged, which their bytes are one after the other.
    write: (contents) =>
      new WireWriter()
        .string(1, "envoy.transport_sockets.tls")
        .message(3, (any) => writeAny(any, { typeUrl, value: Buffer.concat(contents) }))
        .finish(),
  };
}

/** All hosts of a Cluster in one locality. */
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
