import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client, type ClientDuplexStream, credentials } from "@grpc/grpc-js";
import { loadSync, type MessageTypeDefinition, type ServiceDefinition } from "@grpc/proto-loader";
import { runProgram, type Tally } from "./program.ts";

// A client written by hand: a loop over a call of grpc-js, with the protos of @grpc/grpc-js-xds, loaded with its
// options, as its own client is reachable by private paths only. node by-grpc-js.js ADDRESS delta|sotw

const [, , address = "", variant] = process.argv;
const TYPE = "type.googleapis.com/envoy.config.cluster.v3.Cluster";
const MAX_BYTES = 256 * 1024 * 1024;

const deps = join(dirname(fileURLToPath(import.meta.resolve("@grpc/grpc-js-xds"))), "../../deps");
const protos = loadSync(["envoy/service/discovery/v3/ads.proto", "envoy/config/cluster/v3/cluster.proto"], {
  keepCase: true,
  longs: String,
  enums: String,
  defaults: true,
  oneofs: true,
  includeDirs: ["envoy-api", "xds", "googleapis", "protoc-gen-validate"].map((name) => join(deps, name)),
});
const service = protos["envoy.service.discovery.v3.AggregatedDiscoveryService"] as ServiceDefinition;
const cluster = protos["envoy.config.cluster.v3.Cluster"] as MessageTypeDefinition<object, Held["cluster"]>;

interface Held {
  readonly cluster: { readonly name: string };
  readonly bytes: Buffer;
}

interface Any {
  readonly value: Buffer;
}

/** The fields of both responses that the client reads. */
interface Response {
  readonly nonce: string;
  readonly version_info: string;
  readonly resources: readonly (Any & { readonly resource: Any })[];
}

type Call = ClientDuplexStream<object, Response>;

await runProgram((tally) => ({
  watchAll: () => start(tally, []),
  watchEach: (names) => start(tally, names),
}));

/** Sends one request with all names, because nothing here batches subscriptions. */
function start(tally: Tally, names: readonly string[]): void {
  const held = new Map<string, Held>();
  const call = open();
  call.on("data", ({ nonce, version_info, resources }: Response) => {
    for (const { value, resource } of resources) take(value ?? resource.value);
    const version = variant === "delta" ? {} : { version_info, resource_names: names };
    call.write({ type_url: TYPE, response_nonce: nonce, ...version });
  });
  call.write({
    node: { id: "bench" },
    type_url: TYPE,
    ...(variant === "delta" ? { resource_names_subscribe: names } : { resource_names: names }),
  });

  function take(bytes: Buffer): void {
    const one = cluster.deserialize(bytes);
    const before = held.get(one.name);
    if (before?.bytes.equals(bytes)) return;
    held.set(one.name, { cluster: one, bytes });
    if (before === undefined) tally.bytes += bytes.length;
    tally.told();
  }
}

function open(): Call {
  const client = new Client(address, credentials.createInsecure(), {
    "grpc.max_receive_message_length": MAX_BYTES,
    "grpc-node.flow_control_window": 4 * 1024 * 1024,
  });
  const method = service[variant === "delta" ? "DeltaAggregatedResources" : "StreamAggregatedResources"];
  if (method === undefined) throw new Error("the protos have no such method");
  const read = method.responseDeserialize as (bytes: Buffer) => Response;
  return client.makeBidiStreamRequest(method.path, method.requestSerialize as (value: object) => Buffer, read);
}
