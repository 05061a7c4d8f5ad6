import { readFile } from "node:fs/promises";
import type { TlsFiles } from "../../options.ts";
import type { CertificateFile, InForceCertificates } from "./tls.ts";

/** The certificates that a listener elsewhere reloads from the same files; undefined if they cannot be read now. */
export async function readCertificates({ cert, ca }: TlsFiles): Promise<InForceCertificates | undefined> {
  const read = async (file: string): Promise<CertificateFile> => ({ file, pem: await readFile(file, "latin1") });
  try {
    return { cert: await read(cert), ...(ca !== undefined && { ca: await read(ca) }) };
  } catch {
    return undefined;
  }
}
