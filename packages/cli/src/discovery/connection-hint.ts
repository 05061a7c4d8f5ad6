import type { PeerTls } from "@xdskit/conformance";

/** What may be wrong when a server cannot be connected to, as a question or as what to do. */
export function connectionHint(error: Error, address: string, tls: PeerTls | undefined): string {
  const code = codeOf(error) || codeOf(error.cause);
  // What the system says of an address has nothing to do with what is spoken there.
  if (/^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT)$/.test(code)) {
    return `is a server running at ${address}?`;
  }
  return tls === undefined ? plainHint(code) : tlsHint(code, error.message, tls);
}

function plainHint(code: string): string {
  if (code === "ERR_HTTP2_ERROR") return "something answers, but no xDS server: is that its admin port?";
  return "something takes connections there: does it speak TLS? try --tls, or --ca FILE";
}

function tlsHint(code: string, message: string, { ca, cert }: PeerTls): string {
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return "--server-name says which name the certificate must be for";
  if (/CERT|SIGNATURE|ISSUER/.test(code) && !code.startsWith("ERR_SSL_")) {
    return ca === undefined
      ? "give the authority that signed its certificate with --ca FILE"
      : "is --ca its authority?";
  }
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH|HTTP_REQUEST/.test(code) || /before secure TLS/.test(message)) {
    return "does it speak TLS at all? try without --tls, --ca, --cert and --server-name";
  }
  if (cert === undefined) return "it may want a client certificate: --cert FILE and --key FILE";
  return "does it trust the authority of --cert?";
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
