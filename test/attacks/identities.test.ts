import type { ClientHttp2Session } from "node:http2";
import { type DeltaRequestMessage, encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import { afterAll, beforeAll, test } from "vitest";
import { Authority } from "../../packages/server/test/support/authority.ts";
import { framed } from "../../packages/server/test/support/http2-frames.ts";
import { ADS_DELTA, CLUSTER } from "../../packages/server/test/support/test-server.ts";
import { createSite, type Site } from "../e2e/support/site.ts";
import { type Attacker, breath, openCall, send } from "./support/attacker.ts";
import { createScene, type Scene } from "./support/scene.ts";
import { type Attack, withstand } from "./support/withstand.ts";

/** Both clients connect from one address, with certificates of two identities. */
const LIMITS = [
  ...["--max-connections-per-identity", "50", "--max-streams-per-identity", "200"],
  ...["--max-requests-per-second-per-identity", "200", "--max-received-bytes-per-identity", "24MiB"],
  // What an address may is not what stops the attacker.
  ...["--max-connections-per-peer", "1", "--max-streams-per-peer", "1", "--max-received-bytes-per-peer", "1"],
];
const STREAMS = 20;

let authority: Authority;
let pems: Site;
let scene: Scene;
let attackerTls: { readonly ca: string; readonly cert: string; readonly key: string };
beforeAll(async () => {
  authority = new Authority("authority");
  const own = authority.issue("IP:127.0.0.1,DNS:localhost");
  pems = createSite({ "cert.pem": own.cert, "key.pem": own.key, "ca.pem": authority.cert });
  const files = ["cert", "key", "ca"].flatMap((name) => [`--tls-${name}`, `${pems.directory}/${name}.pem`]);
  attackerTls = { ca: authority.cert, ...authority.issue("URI:spiffe://prod/attacker") };
  const tls = { ca: authority.cert, ...authority.issue("URI:spiffe://prod/good") };
  scene = await createScene({ flags: [...files, ...LIMITS], tls });
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  pems[Symbol.dispose]();
  authority[Symbol.dispose]();
});

const delta = (message: Partial<DeltaRequestMessage>): Buffer =>
  framed(encodeDeltaRequest({ typeUrl: CLUSTER, ...message }));
const first = delta({ node: { ...anonymousNode, id: "attacker" } });
const again = delta({ resourceNamesUnsubscribe: ["small-1"], resourceNamesSubscribe: ["small-1"] });

/** Sends requests as fast as the server reads them. */
async function flood(attacker: Attacker, session: ClientHttp2Session): Promise<void> {
  const call = openCall(session, ADS_DELTA);
  call.write(first);
  while (!attacker.isOver && !call.destroyed && !session.destroyed) {
    await send(call, Buffer.concat(Array<Buffer>(50).fill(again)));
    await breath();
  }
}

const attacks: readonly Attack[] = [
  {
    name: "an identity that sends requests as fast as it can",
    round: async (attacker) => {
      const session = await attacker.tlsSession(attackerTls);
      await Promise.all(Array.from({ length: STREAMS }, () => flood(attacker, session)));
    },
    passes: ["maxRequestsPerSecondPerIdentity"],
    // Nothing is read from a connection that is slowed down, so that its end is seen late.
    mayPass: ["maxBlockedMs", "connection-broken"],
  },
  {
    name: "an identity that opens connections",
    round: async (attacker) => {
      for (let at = 0; at < 60; at++) await attacker.tlsSession(attackerTls);
      await breath();
    },
    passes: ["maxConnectionsPerIdentity"],
  },
  {
    name: "an identity whose messages are never finished",
    round: async (attacker) => {
      const session = await attacker.tlsSession(attackerTls);
      const unfinished = Buffer.concat([Buffer.from([0, 0, 32, 0, 0]), Buffer.alloc(2 ** 21 - 1)]);
      for (let at = 0; at < STREAMS; at++) openCall(session, ADS_DELTA).write(unfinished);
    },
    holdsOn: true,
    passes: ["maxReceivedBytesPerIdentity", "maxMessageMs"],
  },
];

test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", (_, attack) => withstand(scene, attack));
