import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";

/** A self-signed certificate for localhost and its key, in PEM. */
export interface Certificate {
  readonly commonName: string;
  readonly cert: string;
  readonly key: string;
}

/** Creates a certificate with the openssl command. */
export function createCertificate(commonName: string): Certificate {
  const directory = mkdtempSync(join(tmpdir(), "xds-e2e-cert-"));
  try {
    const [key, cert] = [join(directory, "key.pem"), join(directory, "cert.pem")];
    const subject = ["-subj", `/CN=${commonName}`, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    execFileSync("openssl", ["req", "-x509", ...curve, "-days", "2", ...subject, "-keyout", key, "-out", cert], {
      stdio: "pipe",
    });
    return { commonName, cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** The common name of the certificate that a TLS port presents; `own` is the client certificate. */
export function shownCommonName(port: number, own?: Certificate): Promise<string> {
  return new Promise((resolve, reject) => {
    const shown = own === undefined ? {} : { cert: own.cert, key: own.key };
    const socket = connect({ host: "127.0.0.1", port, rejectUnauthorized: false, ...shown }, () => {
      const name: unknown = socket.getPeerCertificate().subject.CN;
      socket.destroy();
      resolve(String(name));
    });
    socket.on("error", reject);
  });
}
