import type { DataSource } from "../../gen/types/envoy/config/core/v3/base_pb.d.ts";
import type {
  CommonTlsContext,
  DownstreamTlsContext,
} from "../../gen/types/envoy/extensions/transport_sockets/tls/v3/tls_pb.d.ts";
import { defineNestedCheck, type NestedCheck, type ReportFinding } from "./entry.ts";

/** Private keys inline in a TLS context: whoever may have the Listener or Cluster gets them, and not only over TLS. */
export const tlsContextChecks: readonly NestedCheck[] = [
  defineNestedCheck<CommonTlsContext>(
    "envoy.extensions.transport_sockets.tls.v3.CommonTlsContext",
    ({ tlsCertificates }, report) => {
      for (const [index, { privateKey, password, pkcs12 }] of tlsCertificates.entries()) {
        const path = ["tls_certificates", index];
        checkSource(privateKey, [...path, "private_key"], report);
        checkSource(password, [...path, "password"], report);
        checkSource(pkcs12, [...path, "pkcs12"], report);
      }
    },
  ),
  defineNestedCheck<DownstreamTlsContext>(
    "envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
    ({ sessionTicketKeysType }, report) => {
      if (sessionTicketKeysType.case !== "sessionTicketKeys") return;
      for (const [index, source] of sessionTicketKeysType.value.keys.entries()) {
        checkSource(source, ["session_ticket_keys", "keys", index], report);
      }
    },
  ),
];

function checkSource(source: DataSource | undefined, path: readonly (string | number)[], report: ReportFinding): void {
  const { case: kind } = source?.specifier ?? {};
  if (kind !== "inlineString" && kind !== "inlineBytes") return;
  report(
    "SECRET_INLINE",
    path,
    "expected a secret in a Secret, got it inline: every client that may have this resource gets it, over plaintext too",
    "put it into a Secret, and name that in `tls_certificate_sds_secret_configs` or `session_ticket_keys_sds_secret_config`",
  );
}
