import type { Secret } from "../../gen/types/envoy/extensions/transport_sockets/tls/v3/secret_pb.d.ts";
import { type CatalogEntry, defineEntry, type ReportFinding } from "./entry.ts";

/** SDS: its content is never printed, quoted or logged. */
export const secret: CatalogEntry = defineEntry<Secret>({
  message: "envoy.extensions.transport_sockets.tls.v3.Secret",
  kind: "sds",
  shortName: "sds",
  v2Message: "envoy.api.v2.auth.Secret",
  discovery: {
    services: { v3: "envoy.service.secret.v3.Secret", v2: "envoy.service.discovery.v2.Secret" },
    noun: "Secrets",
    rest: "secrets",
  },
  nameField: "name",
  check: checkSecret,
});

function checkSecret(content: Secret, report: ReportFinding): void {
  const { type } = content;
  if (type.case === undefined) {
    report(
      "SECRET_EMPTY",
      [],
      "expected one of `tls_certificate`, `validation_context`, `session_ticket_keys`, `generic_secret`, got none",
    );
    return;
  }
  if (type.case !== "tlsCertificate") return;
  const { certificateChain, privateKey, privateKeyProvider, pkcs12 } = type.value;
  const hasKey = privateKey !== undefined || privateKeyProvider !== undefined;
  if (pkcs12 !== undefined || (certificateChain !== undefined && hasKey)) return;
  report(
    "SECRET_CERTIFICATE_INCOMPLETE",
    ["tls_certificate"],
    "expected `certificate_chain` and `private_key`, or pkcs12: Envoy rejects less",
  );
}
