// The well-behaved client, in its own process: follows one endpoint assignment and, on request, edits its file and
// measures how long each edit takes to arrive. Arguments: the port, the file, the milliseconds after which it gives up,
// and what it needs for TLS, in JSON.
import { renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { connectPeer } from "@xdskit/conformance";
import { decodeDeltaResponse, encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode, formatTypeUrl } from "@xdskit/protocol";

const DELTA_ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources";
const GAP_MS = 20;

const [port, file, giveUpMs, tls] = process.argv.slice(2);
const typeUrl = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const secured = tls === undefined ? {} : { tls: JSON.parse(tls) };
const peer = await connectPeer({ address: `127.0.0.1:${port}`, connectTimeoutMs: 20_000, ...secured });
const stream = peer.open(DELTA_ADS);
let arrived = () => {};
let edits = 0;

stream.send(
  encodeDeltaRequest({ node: { ...anonymousNode, id: "good" }, typeUrl, resourceNamesSubscribe: ["followed"] }),
);
void (async () => {
  let isFirst = true;
  for await (const bytes of stream.messages) {
    const { nonce, resources } = decodeDeltaResponse(bytes);
    stream.send(encodeDeltaRequest({ typeUrl, responseNonce: nonce }));
    if (resources.length > 0 && isFirst) process.send({ isReady: true });
    else if (resources.length > 0) arrived();
    isFirst &&= resources.length === 0;
  }
  const { code, message } = await stream.status;
  process.send({ error: `its stream ended: ${code} ${message}` });
})();

async function edit() {
  const endpoint = { address: { socket_address: { address: "127.0.0.1", port_value: 1 + (++edits % 60_000) } } };
  const resource = { "@type": typeUrl, cluster_name: "followed", endpoints: [{ lb_endpoints: [{ endpoint }] }] };
  const temporary = join(dirname(file), ".edit");
  writeFileSync(temporary, JSON.stringify({ resources: [resource] }));
  const startedAt = performance.now();
  const isThere = new Promise((resolve) => {
    arrived = resolve;
    setTimeout(resolve, Number(giveUpMs)).unref();
  });
  renameSync(temporary, file);
  await isThere;
  return performance.now() - startedAt;
}

process.on("message", async ({ count }) => {
  const latencies = [];
  for (let at = 0; at < count; at++) {
    latencies.push(await edit());
    await new Promise((resolve) => setTimeout(resolve, GAP_MS));
  }
  process.send({ latencies });
});
process.on("disconnect", () => process.exit());
