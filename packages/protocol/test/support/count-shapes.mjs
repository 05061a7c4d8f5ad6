// Opens streams on a server machine of the built package, sends each a change, and prints how many shapes (V8: maps) each adds
// to the heap. Run with --expose-gc.
import { pathToFileURL } from "node:url";
import { getHeapSnapshot } from "node:v8";

const built = process.argv[2];
const { anonymousNode, createResource, formatTypeUrl } = await import(pathToFileURL(`${built}/index.js`));
const { noInitialVersions, ServerMachine } = await import(pathToFileURL(`${built}/internal.js`));

const STREAMS = 500;
const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const endpoints = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const peer = { address: "127.0.0.1:1", isLoopback: true, isTls: false, names: [] };
const digest = (parts) => BigInt(parts.join("/").length);
const machine = new ServerMachine({
  digest,
  traits: () => ({ type, kind: "cds", isFullState: true, owes: [endpoints] }),
  nodeMapping: () => ["base"],
});
let opened = 0;
let label = 0;

function change() {
  const puts = [createResource({ type, name: "a", bytes: Uint8Array.of(label++) }, digest)];
  machine.on({ kind: "transaction-committed", transaction: { changes: [{ layer: "base", puts }] } });
}

function hear(stream, nonce) {
  const node = Object.assign(Object.create(Object.getPrototypeOf(anonymousNode)), anonymousNode, {
    id: String(stream),
  });
  const request = { kind: "delta", type, node, nonce, error: undefined, subscribe: [], unsubscribe: [] };
  request.initialVersions = noInitialVersions;
  machine.on({ kind: "request-received", stream, request });
}

function settle() {
  while (machine.isDue)
    for (const { kind, stream, nonce } of machine.next(STREAMS)) if (kind === "send") hear(stream, nonce);
}

function open() {
  for (const end = opened + STREAMS; opened < end; opened++) {
    const how = { variant: "delta", onlyType: undefined, apiVersion: "v3", peer, connection: opened };
    machine.on(Object.assign({ kind: "stream-opened", stream: opened }, how));
    hear(opened);
  }
  settle();
  change();
  settle();
}

async function shapes() {
  gc();
  const chunks = [];
  for await (const chunk of getHeapSnapshot()) chunks.push(chunk);
  const { snapshot, nodes, strings } = JSON.parse(Buffer.concat(chunks).toString());
  const { node_fields: fields, node_types: types } = snapshot.meta;
  const [kind, name] = [fields.indexOf("type"), fields.indexOf("name")];
  const isShape = types[kind].indexOf("object shape");
  let count = 0;
  for (let i = 0; i < nodes.length; i += fields.length)
    if (nodes[i + kind] === isShape && strings[nodes[i + name]] === "system / Map") count++;
  return count;
}

change();
// What runs for the first time makes shapes that all share.
open();
const before = await shapes();
open();
const after = await shapes();
console.log(JSON.stringify({ before, ofEachStream: (after - before) / STREAMS }));
