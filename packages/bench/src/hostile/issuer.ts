import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { PeerTls } from "@xdskit/conformance";

const run = promisify(execFile);
const CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];

/** A CA that issues short-lived certificates with the openssl command, all for one key: what counts are the names. */
export class Issuer implements Disposable {
  /** Where it writes PEM files. */
  readonly directory: string = mkdtempSync(join(tmpdir(), "xdskit-soak-"));
  #issued = 0;

  /** Creates the CA and the certificate of the server. */
  static async create(): Promise<Issuer> {
    const issuer = new Issuer();
    await issuer.#openssl([
      "req",
      "-x509",
      "-days",
      "2",
      "-subj",
      "/CN=soak",
      ...CURVE,
      "-keyout",
      "ca.key",
      "-out",
      "ca.pem",
    ]);
    await issuer.#openssl(["req", "-subj", "/CN=soak", ...CURVE, "-keyout", "key.pem", "-out", "one.csr"]);
    issuer.write("cert.pem", (await issuer.issue("IP:127.0.0.1")).cert ?? "");
    return issuer;
  }

  async issue(alternatives: string): Promise<PeerTls> {
    const name = `issued-${this.#issued++}`;
    this.write(`${name}.ext`, `subjectAltName=${alternatives}\n`);
    const signer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-set_serial", String(this.#issued)];
    const files = ["-in", "one.csr", "-extfile", `${name}.ext`, "-out", `${name}.crt`];
    await this.#openssl(["x509", "-req", "-days", "1", ...signer, ...files]);
    const issued = { ca: this.read("ca.pem"), cert: this.read(`${name}.crt`), key: this.read("key.pem") };
    for (const file of [`${name}.ext`, `${name}.crt`]) rmSync(join(this.directory, file));
    return issued;
  }

  read(file: string): string {
    return readFileSync(join(this.directory, file), "utf8");
  }

  write(file: string, content: string): void {
    writeFileSync(join(this.directory, file), content);
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true });
  }

  async #openssl(args: readonly string[]): Promise<void> {
    await run("openssl", args, { cwd: this.directory });
  }
}
