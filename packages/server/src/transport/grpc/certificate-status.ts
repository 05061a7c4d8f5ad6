import type { Status } from "@xdskit/protocol";
import { statusCode } from "@xdskit/protocol/internal";
import type { CertificateNotice } from "./certificate-watch.ts";

const reasons: Readonly<Record<CertificateNotice, string>> = {
  expiring: "the client certificate expires soon",
  expired: "the client certificate has expired",
  untrusted: "no CA of this server vouches for the client certificate any more",
  revoked: "the client certificate is revoked",
};

/** The status of calls over a connection with such a certificate: clients that have another one are served with it. */
export function certificateStatus(notice: CertificateNotice): Status {
  return { code: statusCode.UNAVAILABLE, message: `${reasons[notice]}; connect anew with a valid one` };
}
