import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** Makes `NAME.crt` and `NAME.key` of an authority in a directory. */
export function makeAuthority(directory: string, name: string): void {
  openssl(
    directory,
    "req",
    "-x509",
    "-days",
    "2",
    "-subj",
    `/CN=${name}`,
    ...KEY,
    "-keyout",
    `${name}.key`,
    "-out",
    `${name}.crt`,
  );
}

/** Makes `NAME.crt` and `NAME.key` that an authority in the same directory vouches for. */
export function makeCertificate(directory: string, name: string, authority: string, alternatives: string): void {
  openssl(directory, "req", "-subj", `/CN=${name}`, ...KEY, "-keyout", `${name}.key`, "-out", `${name}.csr`);
  writeFileSync(join(directory, `${name}.ext`), `subjectAltName=${alternatives}\n`);
  const signer = ["-CA", `${authority}.crt`, "-CAkey", `${authority}.key`, "-CAcreateserial"];
  openssl(
    directory,
    "x509",
    "-req",
    "-days",
    "2",
    "-in",
    `${name}.csr`,
    ...signer,
    "-extfile",
    `${name}.ext`,
    "-out",
    `${name}.crt`,
  );
}

function openssl(directory: string, ...args: readonly string[]): void {
  execFileSync("openssl", args, { cwd: directory, stdio: "pipe" });
}
