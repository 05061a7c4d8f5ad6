import type { ServerAnswer } from "@xdskit/server";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Authority } from "../../server/test/support/authority.ts";
import { run } from "../src/run.ts";
import { CapturedIo } from "./captured-io.ts";
import { Serving, Site, until } from "./serving.ts";

const MINUTE_MS = 60_000;
const WITHIN_MS = 30_000;

let site: Site;
let authority: Authority;
let serving: Serving;

/** A certificate of the server, and one in a Secret, that are far from their end: they live for two hours. */
beforeAll(async () => {
  authority = new Authority("authority");
  const own = authority.issue("IP:127.0.0.1");
  const edge = authority.issue("DNS:edge.example");
  site = await Site.make({
    ...{ "ca.crt": authority.cert, "server.crt": own.cert, "server.key": own.key },
    ...{ "edge.crt": edge.cert, "edge.key": edge.key },
    "secrets.yaml": `resources:
- "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
  name: edge-tls
  tls_certificate:
    certificate_chain: { filename: edge.crt }
    private_key: { filename: edge.key }
`,
    "xdskit.yaml": "tls: { cert: server.crt, key: server.key, ca: ca.crt }\n",
  });
  serving = await Serving.start(site);
  await until("it serves", () => serving.isReady());
}, WITHIN_MS);
afterAll(async () => {
  await serving.stop();
  await site.remove();
  authority[Symbol.dispose]();
});

async function status(): Promise<string> {
  const io = new CapturedIo();
  expect(await run(["status", "--admin", serving.admin], io)).toBe(0);
  return io.stdout.text;
}

const expiring = async (): Promise<ServerAnswer["expiring"]> =>
  ((await serving.ask("/api/v1/server")) as unknown as ServerAnswer).expiring;

/** The series of the certificates, without their times. */
async function counts(): Promise<readonly string[]> {
  const text = await (await fetch(`http://${serving.admin}/metrics`)).text();
  return text.match(/^xds_server_certificates_expiring\{.*$/gm)?.toSorted() ?? [];
}

test("a certificate that is not renewed is told before it ends: in status, metrics and the admin API", async () => {
  expect([await expiring(), await status()]).toEqual([undefined, expect.not.stringContaining("expiring")]);
  const none = ["secret", "tls.ca", "tls.cert"].map(
    (use) => `xds_server_certificates_expiring{certificate="${use}"} 0`,
  );
  expect(await counts()).toEqual(none);

  const soon = new Date(Math.floor(Date.now() / 1000) * 1000 + 10 * MINUTE_MS);
  const [own, edge] = ["IP:127.0.0.1", "DNS:edge.example"].map((name) => authority.issue(name, { until: soon }));
  await site.write("server.key", own?.key ?? "");
  await site.write("server.crt", own?.cert ?? "");
  await site.write("edge.key", edge?.key ?? "");
  await site.write("edge.crt", edge?.cert ?? "");
  await until("both are in force", async () => (await expiring())?.total === 2);
  const common = { subject: "client", expiresAt: soon.toISOString(), isExpired: false };
  const type = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";
  const ofSecret = { layer: "base", type, shortName: "sds", name: "edge-tls", file: "secrets.yaml", line: 3 };
  expect(await expiring()).toEqual({
    total: 2,
    certificates: [
      { use: "tls.cert", file: expect.stringMatching(/\/server\.crt$/), ...common },
      { use: "secret", ...ofSecret, ...common },
    ],
  });
  const text = await status();
  expect(text).toMatch(/^expiring +tls\.cert \(\S+\/server\.crt\), of client, expires in \S+$/m);
  expect(text).toMatch(/^expiring +secret edge-tls \(secrets\.yaml:3\), of client, expires in \S+$/m);
  expect(await counts()).toEqual(none.map((line) => (line.includes(".ca") ? line : line.replace(/0$/, "1"))));
  const metrics = await (await fetch(`http://${serving.admin}/metrics`)).text();
  const at = soon.getTime() / 1000;
  for (const use of ["secret", "tls.cert"])
    expect(metrics).toContain(`xds_server_certificate_expiry_timestamp_seconds{certificate="${use}"} ${at}\n`);
});
