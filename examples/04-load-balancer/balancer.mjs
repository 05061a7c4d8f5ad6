import { createServer, request } from "node:http";
import { pipeline } from "node:stream";
import { createXdsClient, Listener } from "@xdskit/client";

const { XDS = "127.0.0.1:18000", PORT = "10000" } = process.env;
const client = await createXdsClient({ server: XDS, node: "balancer" });
const mesh = client.resolve(Listener, process.argv[2] ?? "hello.example");
const load = client.reportLoad(); // `xds loads` shows it

/** How many requests each cluster got, for the round of its endpoints. */
const turns = new Map();

/** The cluster that a request belongs to, by the virtual host with its domain and the first route that fits. */
function clusterOf({ headers, url }, { routes }) {
  const host = headers.host?.replace(/:\d+$/, "");
  const hosts = [...routes.values()].flatMap(({ resource }) => resource?.json.virtualHosts ?? []);
  const own = hosts.find(({ domains }) => domains.includes(host)) ?? hosts.find(({ domains }) => domains.includes("*"));
  const fits = ({ match }) => (match.prefix === undefined ? match.path === url : url.startsWith(match.prefix));
  return own?.routes?.find(fits)?.route?.cluster;
}

/** The endpoints that a cluster has now, the one whose turn it is first. */
function endpointsOf(name, { clusters }) {
  const cluster = clusters.get(name);
  const { endpoints = [] } = cluster?.endpoints?.json ?? cluster?.resource?.json.loadAssignment ?? {};
  const all = endpoints
    .flatMap(({ locality, lbEndpoints = [] }) => lbEndpoints.map((one) => ({ ...one, locality })))
    .filter(({ healthStatus = "UNKNOWN" }) => ["UNKNOWN", "HEALTHY", "DEGRADED"].includes(healthStatus))
    .map(({ endpoint, locality }) => ({ ...endpoint.address.socketAddress, place: { cluster: name, locality } }));
  const turn = turns.get(name) ?? 0;
  turns.set(name, turn + 1);
  const first = all.length === 0 ? 0 : turn % all.length;
  return [...all.slice(first), ...all.slice(0, first)];
}

/** Sends a request on; one that an endpoint did not take goes to the next. */
function forward(incoming, outgoing, [endpoint, ...others]) {
  if (endpoint === undefined) return fail(outgoing, "no endpoint takes it");
  const { method, url, headers } = incoming;
  const { address: host, portValue: port, place } = endpoint;
  const upstream = request({ host, port, method, path: url, headers, agent: false });
  let call;
  upstream.once("socket", (socket) =>
    socket.once("connect", () => {
      call = load.start(place);
      incoming.pipe(upstream);
    }),
  );
  upstream.once("response", (answer) => {
    if (answer.statusCode < 500) call.succeed();
    outgoing.writeHead(answer.statusCode, answer.headers);
    pipeline(answer, outgoing, () => call.fail()); // of the two that are called, the first counts
  });
  upstream.on("error", ({ message }) => {
    call?.fail();
    if (call === undefined) forward(incoming, outgoing, others);
    else if (!outgoing.headersSent) fail(outgoing, message);
  });
}

function fail(outgoing, reason) {
  outgoing.writeHead(503, { "content-type": "text/plain" }).end(`${reason}\n`);
}

await mesh.ready;
const server = createServer((incoming, outgoing) => {
  const snapshot = mesh.current; // all of this request sees one moment
  const cluster = clusterOf(incoming, snapshot);
  if (cluster === undefined) fail(outgoing, "no route leads anywhere");
  else forward(incoming, outgoing, endpointsOf(cluster, snapshot));
});
server.listen(Number(PORT), "127.0.0.1", () => console.log(`listening at 127.0.0.1:${server.address().port}`));

process.once("SIGTERM", () => {
  server.close(() => client.close()); // requests under way are finished
  server.closeIdleConnections();
});

for await (const { revision, clusters, dangling } of mesh) {
  console.log(`revision ${revision}: ${[...clusters.keys()].join(", ")}`);
  for (const { from, to, why } of dangling)
    console.log(`${from?.name ?? "the command line"} names ${to.name}, and that is ${why}`);
}
