import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import type { Peer } from "@xdskit/protocol";

/** Describes the peer of a socket that is connected and, with TLS, past its handshake. */
export function describePeer(socket: Socket): Peer {
  const host = (socket.remoteAddress ?? "").replace(/^::ffff:(?=\d+\.)/, "");
  return {
    address: `${host.includes(":") ? `[${host}]` : host}:${socket.remotePort ?? 0}`,
    isLoopback: host === "::1" || host.startsWith("127."),
    isTls: socket instanceof TLSSocket,
    names: socket instanceof TLSSocket ? certifiedNames(socket) : [],
  };
}

/** The remote address of a socket; undefined if it is closed and the address no longer known. */
export function addressOf(socket: Socket): string | undefined {
  return socket.remoteAddress === undefined ? undefined : describePeer(socket).address;
}

/** Common name and alternative names of a verified client certificate. */
function certifiedNames(socket: TLSSocket): readonly string[] {
  if (!socket.authorized) return [];
  const certificate = socket.getPeerCertificate();
  // Without a client certificate there is an empty object, whatever the types say.
  const commonName: string | readonly string[] | undefined = certificate.subject?.CN;
  const commonNames = commonName === undefined ? [] : [commonName].flat();
  return [...new Set([...commonNames, ...parseAlternativeNames(certificate.subjectaltname ?? "")])];
}

const ALTERNATIVE_NAME = /(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/**
 * Parses `DNS:a.example, URI:spiffe://b/c, IP Address:10.0.0.1`. Values that contain a comma are quoted as JSON
 * strings; naive splitting would let a client choose its name (CVE-2021-44532).
 */
export function parseAlternativeNames(text: string): readonly string[] {
  const names: string[] = [];
  for (const [, , value] of text.matchAll(ALTERNATIVE_NAME)) {
    const name: unknown = value?.startsWith('"') === true ? JSON.parse(value) : value;
    if (typeof name === "string" && name !== "") names.push(name);
  }
  return names;
}
