import { encodeDeltaRequest, encodeSotwRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import { afterAll, beforeAll, test } from "vitest";
import { framed } from "../../packages/server/test/support/http2-frames.ts";
import { encoded } from "../../packages/server/test/support/messages.ts";
import { ADS_DELTA, CLUSTER } from "../../packages/server/test/support/test-server.ts";
import { staticCluster } from "../e2e/support/resource.ts";
import { answered, ended, openCall, send } from "./support/attacker.ts";
import { createScene, type Scene } from "./support/scene.ts";
import { type Attack, withstand } from "./support/withstand.ts";

const REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const HEALTH_WATCH = "/grpc.health.v1.Health/Watch";
const STATUS = "/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus";
const ADS_V2 = "/envoy.service.discovery.v2.AggregatedDiscoveryService/StreamAggregatedResources";
const CLUSTERS = 5_000;

const symbol = "envoy.config.bootstrap.v3.Bootstrap";
const reflection = framed(Buffer.concat([Buffer.from([0x22, symbol.length]), Buffer.from(symbol)]));
const regexes = framed(
  encoded("envoy.service.status.v3.ClientStatusRequest", {
    nodeMatchers: ["(a+)+z", "((.+)+)+z", "(a|aa)*z"].map((regex) => ({ nodeId: { safeRegex: { regex } } })),
  }),
);

const attacks: readonly Attack[] = [
  {
    name: "2,000 reflection calls",
    round: async (attacker) => {
      const session = await attacker.session();
      for (let at = 0; at < 100 && !attacker.isOver; at++) {
        const calls = Array.from({ length: 20 }, () => openCall(session, REFLECTION));
        for (const call of calls) call.end(reflection);
        await Promise.all(calls.map(ended));
      }
    },
  },
  {
    name: "reflection whose answers nobody reads",
    round: async (attacker) => {
      const session = await attacker.session({ initialWindowSize: 0 });
      for (let at = 0; at < 500; at++) await send(openCall(session, REFLECTION), reflection);
    },
    holdsOn: true,
    passes: ["maxBlockedMs"],
  },
  {
    name: "health watches beyond what an address may have",
    round: async (attacker) => {
      const session = await attacker.session();
      for (let at = 0; at < 2_050; at++) await send(openCall(session, HEALTH_WATCH), framed(Buffer.alloc(0)));
    },
    holdsOn: true,
    passes: ["maxStreamsPerPeer"],
  },
  {
    name: "regular expressions that take for ever elsewhere",
    round: async (attacker) => {
      const session = await attacker.session();
      const node = openCall(session, ADS_DELTA);
      node.write(
        framed(encodeDeltaRequest({ node: { ...anonymousNode, id: `${"a".repeat(200)}!` }, typeUrl: CLUSTER })),
      );
      await answered(node);
      for (let at = 0; at < 20 && !attacker.isOver; at++) {
        const call = openCall(session, STATUS);
        call.end(regexes);
        await ended(call);
      }
    },
  },
  {
    name: `a first request in v2, with ${CLUSTERS} clusters to convert`,
    round: async (attacker) => {
      const session = await attacker.session();
      const call = openCall(session, ADS_V2);
      call.write(
        framed(
          encodeSotwRequest({
            node: { ...anonymousNode, id: "old" },
            typeUrl: "type.googleapis.com/envoy.api.v2.Cluster",
            resourceNames: ["nothing"],
          }),
        ),
      );
      await answered(call);
    },
  },
];

let scene: Scene;
beforeAll(async () => {
  scene = await createScene({
    files: { "many.json": Array.from({ length: CLUSTERS }, (_, index) => staticCluster(`many-${index}`, [1])) },
  });
});
afterAll(() => scene[Symbol.asyncDispose]());

test.each(attacks.map((attack) => [attack.name, attack] as const))("%s", (_, attack) => withstand(scene, attack));
