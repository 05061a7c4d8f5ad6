import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Peer } from "@xdskit/protocol";

/** Describes the peer of a socket that is connected and, with TLS, past its handshake. */
export function describePeer(socket: Socket): Peer {
  const { names, certificate } = socket instanceof TLSSocket ? certified(socket) : nothingCertified;
  const host = (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
  return {
    address: `${host.includes(":") ? `[${host}]` : host}:${socket.remotePort ?? 0}`,
    isLoopback: host === "::1" || host.startsWith("127."),
    isTls: socket instanceof TLSSocket,
    names,
    ...(certificate !== undefined && { certificate }),
  };
}

/** The remote address of a socket; undefined if it is closed and the address no longer known. */
export function addressOf(socket: Socket): string | undefined {
  return socket.remoteAddress === undefined ? undefined : describePeer(socket).address;
}

type Certified = Pick<Peer, "names" | "certificate">;
const nothingCertified: Certified = { names: [] };

/** What a verified client certificate says. */
function certified(socket: TLSSocket): Certified {
  if (!socket.authorized) return nothingCertified;
  const certificate = socket.getPeerCertificate();
  // Without a client certificate there is an empty object, whatever the types say.
  const subject: { readonly CN?: string | readonly string[] } | undefined = certificate.subject;
  if (subject === undefined) return nothingCertified;
  const commonNames = subject.CN === undefined ? [] : [subject.CN].flat();
  const alternatives = parseAlternativeNames(certificate.subjectaltname ?? "");
  const ofKind = (kind: string): readonly string[] =>
    alternatives.flatMap((one) => (one.kind === kind ? [one.name] : []));
  return {
    names: [...new Set([...commonNames, ...alternatives.map(({ name }) => name)])],
    certificate: {
      commonName: commonNames.length === 1 ? commonNames[0] : undefined,
      uris: ofKind("URI"),
      dnsNames: ofKind("DNS"),
      validTo: new Date(certificate.valid_to),
    },
  };
}

/** An alternative name of a certificate. */
export interface AlternativeName {
  /** Such as `DNS` or `URI`. */
  readonly kind: string;
  readonly name: string;
}

const ALTERNATIVE_NAME = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/**
 * Parses `DNS:a.example, URI:spiffe://b/c, IP Address:10.0.0.1`. Values that contain a comma are quoted as JSON
 * strings; naive splitting would let a client choose its name (CVE-2021-44532).
 */
export function parseAlternativeNames(text: string): readonly AlternativeName[] {
  const names: AlternativeName[] = [];
  for (const [, kind = "", value] of text.matchAll(ALTERNATIVE_NAME)) {
    const name: unknown = value?.startsWith('"') === true ? JSON.parse(value) : value;
    if (typeof name === "string" && name !== "") names.push({ kind, name });
  }
  return names;
}
