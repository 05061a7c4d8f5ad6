import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "../../packages/server/test/support/authority.ts";
import { describeWith, peerCommand } from "../e2e/support/peers.ts";
import { freePort } from "../e2e/support/port.ts";
import { type StartedProcess, startProcess } from "../e2e/support/process.ts";
import { staticCluster } from "../e2e/support/resource.ts";
import { xdsCommand } from "../e2e/support/server.ts";
import { createSite, type Site } from "../e2e/support/site.ts";
import { until } from "../e2e/support/wait.ts";

/** One finding, as testssl.sh writes it. */
interface Finding {
  readonly id: string;
  readonly severity: string;
  readonly finding: string;
}

const HARMLESS: ReadonlySet<string> = new Set(["OK", "INFO", "LOW"]);
/** What the openssl of this machine cannot try, GOST, is no finding about a port. */
const OF_THE_MACHINE: ReadonlySet<string> = new Set(["engine_problem"]);
/** Protocols, ciphers, forward secrecy, preferences, headers, vulnerabilities; not the certificate, which is the operator's. */
const CHECKS = ["-p", "-s", "-f", "-P", "-h", "-U"];
const PATIENCE_MS = 600_000;

describeWith("testssl", "TLS as testssl.sh tests it", () => {
  let authority: Authority;
  let site: Site;
  let pems: Site;
  let reports: string;
  let server: StartedProcess;
  const ports = { xds: 0, admin: 0 };

  beforeAll(async () => {
    authority = new Authority("authority");
    const own = authority.issue("IP:127.0.0.1,DNS:localhost");
    pems = createSite({ "cert.pem": own.cert, "key.pem": own.key, "ca.pem": authority.cert });
    site = createSite({ "a.json": [staticCluster("a", [1])] });
    reports = mkdtempSync(join(tmpdir(), "xds-testssl-"));
    for (const port of ["xds", "admin"] as const) ports[port] = await freePort();
    const files = (flag: string, keys: readonly string[]): readonly string[] =>
      keys.flatMap((key) => [`--${flag}-${key}`, `${pems.directory}/${key}.pem`]);
    server = await startProcess([
      ...[...xdsCommand(), "serve", site.directory, "--state-dir", "off", "--log-format", "json"],
      ...["--listen", `127.0.0.1:${ports.xds}`, ...files("tls", ["cert", "key"])],
      ...["--admin", `127.0.0.1:${ports.admin}`, ...files("admin-tls", ["cert", "key", "ca"])],
    ]);
    await until({ says: "xds serve is ready", withinMs: 60_000 }, () => server.log().includes("ready"));
  });
  afterAll(async () => {
    await server.kill();
    for (const one of [pems, site, authority]) one[Symbol.dispose]();
    rmSync(reports, { recursive: true });
  });

  async function findingsAt(port: number): Promise<readonly Finding[]> {
    const [program = ""] = peerCommand("testssl") ?? [];
    const report = join(reports, `${port}.json`);
    const quietly = ["--warnings", "off", "--color", "0", "--quiet", "--nodns", "none", "--jsonfile", report];
    await promisify(execFile)(program, [...quietly, ...CHECKS, `127.0.0.1:${port}`]).catch((error: unknown) => {
      // Its exit status is a number of problems.
      if (typeof (error as { readonly code?: unknown }).code !== "number") throw error;
    });
    return JSON.parse(readFileSync(report, "utf8")) as readonly Finding[];
  }

  test.each(["xds", "admin"] as const)(
    "no finding above low at the %s port",
    { timeout: PATIENCE_MS },
    async (name) => {
      const findings = await findingsAt(ports[name]);
      const found = new Map(findings.map(({ id, severity }) => [id, severity]));
      // It looked at a port of ours: one that it cannot reach has no findings either.
      expect([found.get("TLS1_3"), found.get("TLS1_1"), found.get("secure_client_renego")]).toEqual([
        "OK",
        "INFO",
        "OK",
      ]);
      expect(findings.filter(({ id, severity }) => !HARMLESS.has(severity) && !OF_THE_MACHINE.has(id))).toEqual([]);
      expect(server.ended(), "the server lives").toBeUndefined();
    },
  );
});
