import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createCertificate, shownCommonName } from "../e2e/support/certificate.ts";
import { freePort } from "../e2e/support/port.ts";
import { staticCluster } from "../e2e/support/resource.ts";
import { createSite, type Site } from "../e2e/support/site.ts";
import { until } from "../e2e/support/wait.ts";
import { createScene, type Scene } from "./support/scene.ts";
import { type Attack, withstand } from "./support/withstand.ts";

const READERS = 100;
/** About 5 MB in JSON: more than the buffers of a connection take. */
const CLUSTERS = 1_000;
const label = "l".repeat(5_000);
const REQUEST = [
  "POST /v3/discovery:clusters HTTP/1.1",
  "host: a",
  "content-type: application/json",
  "content-length: 2",
  "",
  "{}",
].join("\r\n");

let pems: Site;
let scene: Scene;
let tlsPort: number;
beforeAll(async () => {
  const { cert, key } = createCertificate("localhost");
  pems = createSite({ "cert.pem": cert, "key.pem": key });
  tlsPort = await freePort();
  const tls = { cert: `${pems.directory}/cert.pem`, key: `${pems.directory}/key.pem` };
  const clusters = Array.from({ length: CLUSTERS }, (_, index) =>
    staticCluster(`large-${index}`, [1], { metadata: { filter_metadata: { a: { label } } } }),
  );
  scene = await createScene({
    files: {
      "xdskit.yaml": JSON.stringify({ listeners: [{ address: `127.0.0.1:${tlsPort}`, tls }] }),
      "large.json": clusters,
    },
  });
  await pollOnce(); // what all polls share is kept
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  pems[Symbol.dispose]();
});

async function pollOnce(): Promise<void> {
  const path = "/v3/discovery:clusters";
  const polled = request({ host: "127.0.0.1", port: tlsPort, path, method: "POST", rejectUnauthorized: false });
  polled.setHeader("content-type", "application/json");
  polled.end("{}");
  const [response] = (await once(polled, "response")) as [IncomingMessage];
  await once(response.resume(), "end");
}

const attacks: readonly Attack[] = [
  {
    name: `${READERS} readers over TLS and HTTP/1 that take nothing`,
    round: async (attacker) => {
      for (let at = 0; at < READERS; at++) (await attacker.unreadTlsSocket(tlsPort)).write(REQUEST);
    },
    holdsOn: true,
    passes: ["maxBlockedMs"],
  },
  {
    name: "handshakes that stop after their first byte",
    round: async (attacker) => {
      for (let at = 0; at < READERS; at++) (await attacker.socket(tlsPort)).write(Buffer.from([0x16]));
    },
    holdsOn: true,
  },
];

test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", (_, attack) => withstand(scene, attack));

test("certificates that are none change nothing, and are told", async () => {
  const linesBefore = scene.logged().length;
  pems.write({ "cert.pem": "-----BEGIN CERTIFICATE-----\nnone\n-----END CERTIFICATE-----\n", "key.pem": "" });
  await until({ says: "they are told", withinMs: 20_000, everyMs: 50 }, () =>
    scene
      .logged()
      .slice(linesBefore)
      .some(({ event }) => event === "tls-refused"),
  );
  expect(await shownCommonName(tlsPort)).toBe("localhost");
  expect(scene.server.process().ended(), "the server lives").toBeUndefined();
});
