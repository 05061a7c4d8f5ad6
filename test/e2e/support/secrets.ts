import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificate } from "./certificate.ts";
import { closing } from "./closing.ts";
import type { Backend } from "./http-backend.ts";
import { LONG_PATH } from "./long-response.ts";
import { configSource, type Mode } from "./mode.ts";
import { cluster } from "./resource.ts";

const TLS = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3";

/** A Secret with a certificate and its key. */
export function certificateSecret(name: string, { cert, key }: Certificate): object {
  const tls_certificate = { certificate_chain: { inline_string: cert }, private_key: { inline_string: key } };
  return { "@type": `${TLS}.Secret`, name, tls_certificate };
}

/** A Secret with the certificate that a peer has to show. */
export function trustSecret(name: string, { cert }: Certificate): object {
  return { "@type": `${TLS}.Secret`, name, validation_context: { trusted_ca: { inline_string: cert } } };
}

/** A transport socket of a Listener, whose certificate comes by SDS. */
export function serverSocket(mode: Mode, certificate: string): object {
  const tls_certificate_sds_secret_configs = [byName(mode, certificate)];
  return socket("DownstreamTlsContext", { tls_certificate_sds_secret_configs });
}

/** A Cluster with EDS and TLS. What it trusts, and what it shows, come by SDS. */
export function securedCluster(
  mode: Mode,
  name: string,
  names: { readonly trust: string; readonly own: string },
): object {
  const transport_socket = socket("UpstreamTlsContext", {
    combined_validation_context: {
      default_validation_context: {
        match_typed_subject_alt_names: [{ san_type: "DNS", matcher: { exact: "localhost" } }],
      },
      validation_context_sds_secret_config: byName(mode, names.trust),
    },
    tls_certificate_sds_secret_configs: [byName(mode, names.own)],
  });
  return cluster({ name, source: configSource(mode), connectTimeoutMs: 5_000, more: { transport_socket } });
}

/** Starts an HTTPS backend that answers with its name those who show `trusted`, and `LONG_PATH` never. */
export async function startHttpsBackend(name: string, own: Certificate, trusted: Certificate): Promise<Backend> {
  const options = { cert: own.cert, key: own.key, ca: trusted.cert, requestCert: true };
  const server = createServer(options, (request, response) => {
    request.resume();
    if (request.url !== LONG_PATH) response.end(name);
  });
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  const close = closing(server);
  await new Promise<void>((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve));
  return {
    name,
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: close,
  };
}

function socket(context: string, common_tls_context: object): object {
  return {
    name: "envoy.transport_sockets.tls",
    typed_config: { "@type": `${TLS}.${context}`, common_tls_context },
  };
}

function byName(mode: Mode, name: string): object {
  return { name, sds_config: configSource(mode) };
}
