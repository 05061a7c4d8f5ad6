import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
const HOUR_MS = 3_600_000;

/** A certificate and its key, in PEM. */
export interface IssuedCertificate {
  readonly cert: string;
  readonly key: string;
}

/** How a certificate is issued. */
export interface IssueOptions {
  /**
   * When it expires.
   * @default in an hour
   */
  readonly until?: Date;
  /** It may issue others. */
  readonly isAuthority?: boolean;
}

/** A certificate authority that issues with the openssl command. */
export class Authority {
  readonly cert: string;
  readonly #directory: string;

  constructor(name: string, issuer?: Authority) {
    this.#directory = mkdtempSync(join(tmpdir(), "xdskit-ca-"));
    if (issuer === undefined) {
      this.#openssl(
        "req",
        "-x509",
        "-days",
        "2",
        "-subj",
        `/CN=${name}`,
        ...KEY,
        "-keyout",
        "ca.key",
        "-out",
        "ca.crt",
      );
    } else {
      const { cert, key } = issuer.issue(`DNS:${name}`, { isAuthority: true });
      this.#write("ca.crt", cert);
      this.#write("ca.key", key);
    }
    this.cert = this.#read("ca.crt");
    this.#write("index.txt", "");
    this.#write("ca.cnf", CONFIG);
  }

  /** Issues a certificate with alternative names, such as `DNS:a,URI:spiffe://b/c`. */
  issue(alternatives: string, { until, isAuthority = false }: IssueOptions = {}): IssuedCertificate {
    const constraints = isAuthority ? "\nbasicConstraints=critical,CA:true\nsubjectKeyIdentifier=hash" : "";
    this.#write("one.ext", `subjectAltName=${alternatives}${constraints}\n`);
    this.#openssl(
      "req",
      "-subj",
      `/CN=${isAuthority ? alternatives : "client"}`,
      ...KEY,
      "-keyout",
      "one.key",
      "-out",
      "one.csr",
    );
    const from = new Date(Date.now() - HOUR_MS);
    const dates = ["-startdate", asn1Time(from), "-enddate", asn1Time(until ?? new Date(Date.now() + HOUR_MS))];
    this.#openssl("ca", ...BATCH, ...dates, "-notext", "-in", "one.csr", "-extfile", "one.ext", "-out", "one.crt");
    return { cert: this.#read("one.crt"), key: this.#read("one.key") };
  }

  revoke({ cert }: IssuedCertificate): void {
    this.#write("revoked.crt", cert);
    this.#openssl("ca", ...BATCH, "-revoke", "revoked.crt");
  }

  /** The revocation list of now. */
  list(): string {
    this.#openssl("ca", ...BATCH, "-gencrl", "-crldays", "2", "-out", "ca.crl");
    return this.#read("ca.crl");
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true });
  }

  #openssl(...args: readonly string[]): void {
    execFileSync("openssl", args, { cwd: this.#directory, stdio: "pipe" });
  }

  #read(file: string): string {
    return readFileSync(join(this.#directory, file), "utf8");
  }

  #write(file: string, content: string): void {
    writeFileSync(join(this.#directory, file), content);
  }
}

const BATCH = ["-batch", "-config", "ca.cnf"];
const CONFIG = `[ca]
default_ca = own
[own]
dir = .
database = index.txt
new_certs_dir = .
certificate = ca.crt
private_key = ca.key
default_md = sha256
policy = any
rand_serial = yes
unique_subject = no
[any]
commonName = supplied
`;

/** As `20260102030405Z`. */
function asn1Time(date: Date): string {
  return `${date.toISOString().slice(0, 19).replace(/[-:T]/g, "")}Z`;
}
