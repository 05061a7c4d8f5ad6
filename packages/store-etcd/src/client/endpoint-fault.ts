import { connect as connectHttp2 } from "node:http2";
import { checkServerIdentity, connect, type DetailedPeerCertificate, type PeerCertificate } from "node:tls";
import { placeOf } from "./endpoint.ts";
import type { EtcdTls } from "./tls-files.ts";

export interface FaultContext {
  /** Undefined: the connection is not encrypted. */
  readonly tls: EtcdTls | undefined;
  readonly withinMs: number;
  /** Ends the search. */
  readonly signal: AbortSignal;
}

/**
 * Why no connection to an endpoint comes about until somebody changes a certificate or an option, as the rest of a
 * sentence about it. Undefined: there is no such reason, or none within the time. It connects once more, and sends no call.
 */
export async function findEndpointFault(endpoint: string, context: FaultContext): Promise<string | undefined> {
  const { tls } = context;
  const { certificate, fault, alert } = await shakeHands(endpoint, context);
  if (tls === undefined) return certificate && "requires TLS: give the CA of its certificate (ca)";
  if (certificate !== undefined && fault !== undefined) return describeFault(fault, certificate, { endpoint, tls });
  if (alert !== undefined) return describeAlert(alert, tls);
  if (certificate === undefined && (await speaksPlainHttp2(endpoint, context)))
    return "does not use TLS: leave out ca, cert and key";
  return undefined;
}

interface Handshake {
  /** Undefined: the endpoint cannot be reached, or does not use TLS. */
  readonly certificate?: DetailedPeerCertificate;
  /** The code of OpenSSL or Node for what is wrong with the certificate. */
  readonly fault?: string | undefined;
  /** How etcd refused the handshake, such as `CERTIFICATE_REQUIRED`. */
  readonly alert?: string | undefined;
}

/** Makes a handshake, and waits for the first bytes: in TLS 1.3 the client certificate is refused after the handshake. */
function shakeHands(endpoint: string, { tls, withinMs, signal }: FaultContext): Promise<Handshake> {
  const { host, port, serverName } = placeOf(endpoint);
  return new Promise((resolve) => {
    let seen: Handshake = {};
    const socket = connect({
      ...{ host, port, servername: serverName, ALPNProtocols: ["h2"], ...tls },
      checkServerIdentity: (_, certificate: PeerCertificate) => checkServerIdentity(host, certificate),
      // What is wrong with the certificate is wanted; nothing is sent.
      rejectUnauthorized: false,
    });
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      socket.destroy();
      resolve(seen);
    };
    const timer = setTimeout(end, withinMs);
    signal.addEventListener("abort", end);
    socket.once("secureConnect", () => {
      const { authorizationError } = socket;
      seen = {
        certificate: socket.getPeerCertificate(true),
        fault: authorizationError === null || authorizationError === undefined ? undefined : String(authorizationError),
      };
      if (tls === undefined || seen.fault !== undefined) end();
    });
    socket.once("data", end);
    socket.on("error", (cause: NodeJS.ErrnoException) => {
      seen = { ...seen, alert: /_ALERT_(\w+)$/.exec(cause.code ?? "")?.[1] };
      end();
    });
    socket.once("close", end);
    if (signal.aborted) end();
  });
}

/** What is wrong with the certificate of etcd. */
function describeFault(
  fault: string,
  certificate: DetailedPeerCertificate,
  { endpoint, tls }: { readonly endpoint: string; readonly tls: EtcdTls },
): string {
  const names = certificate.subjectaltname?.replace(/\b[\w ]+:/g, "") ?? "no name";
  switch (fault) {
    case "CERT_HAS_EXPIRED":
      return describeExpiry(certificate);
    case "CERT_NOT_YET_VALID":
      return `has a certificate that is not valid before ${dateOf(certificate.valid_from)}`;
    case "ERR_TLS_CERT_ALTNAME_INVALID":
      return `has a certificate for ${names}, not for ${placeOf(endpoint).host}`;
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return tls.ca === undefined
        ? "has a certificate of an authority that Node does not trust: give its CA (ca)"
        : "has a certificate of an authority that ca does not hold";
    default:
      return `has a certificate that cannot be verified: ${fault}`;
  }
}

/** The end of the certificate, or that of an authority above it. */
function describeExpiry(certificate: DetailedPeerCertificate): string {
  const now = new Date();
  if (new Date(certificate.valid_to) <= now) return `has a certificate that expired on ${dateOf(certificate.valid_to)}`;
  return "has a certificate whose authority has expired";
}

/** `Nov 29 03:00:00 2026 GMT` as `2026-11-29T03:00:00Z`. */
function dateOf(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : date.toISOString().replace(".000Z", "Z");
}

/** Why etcd refuses the handshake. */
function describeAlert(alert: string, { cert }: EtcdTls): string {
  const isOfCertificate = /CERTIFICATE|UNKNOWN_CA/.test(alert);
  if (isOfCertificate && cert === undefined) return "requires a client certificate (cert, key)";
  const reason = alert.toLowerCase().replaceAll("_", " ").replace(/\bca$/, "CA");
  return isOfCertificate ? `rejects the client certificate: ${reason}` : `refuses the TLS handshake: ${reason}`;
}

/** Whether an endpoint answers HTTP/2 without TLS. */
function speaksPlainHttp2(endpoint: string, { withinMs, signal }: FaultContext): Promise<boolean> {
  return new Promise((resolve) => {
    const session = connectHttp2(`http://${endpoint}`);
    const end = (does: boolean): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", fail);
      session.destroy();
      resolve(does);
    };
    const fail = (): void => end(false);
    const timer = setTimeout(fail, withinMs);
    signal.addEventListener("abort", fail);
    session.once("remoteSettings", () => end(true));
    session.on("error", fail);
    session.once("close", fail);
    if (signal.aborted) fail();
  });
}
