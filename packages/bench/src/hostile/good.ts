import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connectPeer } from "@xdskit/conformance";
import { decodeDeltaResponse, encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import { CLUSTER, GOOD_NODE } from "./views.ts";

// The client that behaves, in a process of its own: prints how long after its commit each edit of "probe" arrives.

const [, , address = "", pems = ""] = process.argv;
const pem = (name: string): string => readFileSync(join(pems, name), "utf8");
const peer = await connectPeer({
  address,
  tls: { ca: pem("ca.pem"), cert: pem("good.crt"), key: pem("good.key") },
  connectTimeoutMs: 60_000,
});
const stream = peer.open("/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources");
const node = { ...anonymousNode, id: GOOD_NODE };
stream.send(encodeDeltaRequest({ node, typeUrl: CLUSTER, resourceNamesSubscribe: ["probe"] }));
for await (const message of stream.messages) {
  const now = performance.timeOrigin + performance.now();
  const { nonce, resources } = decodeDeltaResponse(message);
  stream.send(encodeDeltaRequest({ typeUrl: CLUSTER, responseNonce: nonce }));
  for (const { resource } of resources) {
    const [, label] = Buffer.from(resource?.value ?? [])
      .toString()
      .split("=");
    if (label !== undefined) process.stdout.write(`${JSON.stringify({ event: "arrived", ms: now - Number(label) })}\n`);
  }
}
throw new Error(`the stream of the client that behaves ended: ${(await stream.status).message}`);
