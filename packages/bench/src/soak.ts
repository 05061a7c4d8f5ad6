import { setTimeout as elapsed } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { connectPeer, type PeerTls } from "@xdskit/conformance";
import { encodeDeltaRequest } from "@xdskit/envoy-api/internal";
import { anonymousNode } from "@xdskit/protocol";
import { positive, readOptions, seedFrom } from "./command-line.ts";
import { HostileClient } from "./hostile/client.ts";
import { Issuer } from "./hostile/issuer.ts";
import { randomFrom } from "./hostile/random.ts";
import { CLUSTER, layers, names, Truth, types, type Write } from "./hostile/views.ts";
import { CLIENT_CPU, Peer, SERVER_CPU, tell } from "./peer.ts";

// Clients with certificates of 100 identities come, go, NACK, stall, flood, claim the nodes of others and return with renewed certificates. At the end:
//  - each client holds exactly its view, and nobody was let in as another's node;
//  - the server's memory after garbage collection is flat within 5 % (the median of the last quarter of the samples
//    against that of the second quarter; what is kept up to a number of entries fills up before);
//  - once all clients are gone, it has the handles that it had before the first;
//  - an edit reaches a client that behaves as fast as when it was alone: at most twice the time, or 50 ms more.

const GROUPS = 100;
const ALONE_PROBES = 30;
const CONNECT_AT_ONCE = 10;
const ACTIONS_PER_STEP = 10;
const SETTLE_MS = 300_000;
const GROWTH = 1.05;
const SLACK_MS = 50;
const ROUND_SECONDS = 15;

const USAGE = "npm run soak [-- --minutes N] [--clients N] [--seed N]";
const options = readOptions(USAGE, {
  minutes: { type: "string", default: "120" },
  clients: { type: "string", default: "2000" },
  seed: { type: "string" },
});
const minutes = positive(USAGE, "minutes", options.minutes);
const count = positive(USAGE, "clients", options.clients);
const seed = seedFrom(USAGE, options.seed);

const random = randomFrom(seed);
const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;
const print = (line: string): void => void process.stdout.write(`${line}\n`);
const median = (all: readonly number[]): number => [...all].sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
const program = (name: string): string => fileURLToPath(new URL(`./hostile/${name}.js`, import.meta.url));
const groupOf = (number: number): string => `g${number % GROUPS}`;

using issuer = await Issuer.create();
const good = await issuer.issue("URI:spiffe://soak/good");
issuer.write("good.crt", good.cert ?? "");
issuer.write("good.key", good.key ?? "");
const certificates = new Map<string, PeerTls>();
const issueFor = async (group: string): Promise<void> => {
  certificates.set(group, await issuer.issue(`URI:spiffe://soak/${group}`));
};
for (let number = 0; number < GROUPS; number++) await issueFor(groupOf(number));
const certificateOf = (group: string): PeerTls => {
  const found = certificates.get(group);
  if (found === undefined) throw new Error(`no certificate for ${group}`);
  return found;
};

await using server = new Peer(process.execPath, ["--expose-gc", program("server"), issuer.directory], SERVER_CPU);
const address = String((await server.hears("listening"))["address"]);
await using behaved = new Peer(process.execPath, [program("good"), address, issuer.directory], CLIENT_CPU);

/** Milliseconds from the commit of an edit until the client that behaves has it. */
async function probe(): Promise<number> {
  return Number((await tellOther("probe"))["ms"]);
}
async function tellOther(command: string): ReturnType<Peer["hears"]> {
  server.say(command);
  return behaved.hears("arrived");
}
interface Sample {
  readonly mb: number;
  /** By kind. */
  readonly handles: Readonly<Record<string, number>>;
}
const sample = async (): Promise<Sample> => (await tell(server, "memory", "memory")) as unknown as Sample;
/** The kinds of which there are more than before the first client. */
const leftIn = ({ handles }: Sample): readonly string[] =>
  Object.entries(handles).flatMap(([kind, count]) => (count > (before.handles[kind] ?? 0) ? [`${count} ${kind}`] : []));
const total = ({ handles }: Sample): number => Object.values(handles).reduce((sum, count) => sum + count, 0);

print(`seed ${seed}`);
const alone: number[] = [];
for (let at = 0; at < ALONE_PROBES; at++) {
  alone.push(await probe());
  await elapsed(100);
}
const before = await sample();
print(`alone: an edit takes ${median(alone).toFixed(1)} ms; ${before.mb.toFixed(1)} MB, ${total(before)} handles`);

const truth = new Truth();
const clients = Array.from({ length: count }, (_, number) => {
  const group = groupOf(number);
  return new HostileClient(number, random, { nodeId: `${group}-${number}`, tls: () => certificateOf(group) });
});
for (let at = 0; at < clients.length; at += CONNECT_AT_ONCE)
  await Promise.all(clients.slice(at, at + CONNECT_AT_ONCE).map((client) => client.connect(address)));
print(`${count} clients are connected`);

function write(): void {
  const what = { layer: pick(layers), type: pick(types), name: pick(names) };
  const change: Write = random(3) === 0 ? what : { ...what, label: String(random(1_000)) };
  truth.take(change);
  server.say(JSON.stringify(change));
}

/** Claims the node of another group, and returns whether it was let in. */
async function steal(): Promise<boolean> {
  const number = random(count);
  const peer = await connectPeer({ address, tls: certificateOf(groupOf(number + 1)), connectTimeoutMs: 120_000 });
  const stream = peer.open("/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources");
  const node = { ...anonymousNode, id: `${groupOf(number)}-${number}` };
  stream.send(encodeDeltaRequest({ node, typeUrl: CLUSTER, resourceNamesSubscribe: ["*"] }));
  let isLetIn = false;
  for await (const _ of stream.messages) {
    isLetIn = true;
    break;
  }
  await peer.close();
  return isLetIn;
}

const tally = { actions: 0, floods: 0, thefts: 0, stolen: 0, rotations: 0, edits: 0, absent: 0 };
/** Those who went, until they come back. */
const absent = new Set<HostileClient>();
/** Those in the middle of something. */
const busy = new Set<HostileClient>();
async function act(): Promise<void> {
  const client = pick(clients);
  if (busy.has(client)) return;
  busy.add(client);
  await actAs(client);
  busy.delete(client);
}

async function actAs(client: HostileClient): Promise<void> {
  tally.actions++;
  const chance = random(100);
  if (absent.delete(client)) return client.connect(address);
  if (chance < 3) {
    tally.floods++;
    client.flood();
  } else if (chance < 8) {
    tally.absent++;
    absent.add(client);
    await client.close();
  } else if (chance < 10) {
    tally.thefts++;
    if (await steal()) tally.stolen++;
  } else await client.act(address);
}

const differences = (): readonly string[] => clients.flatMap((client) => client.differences(truth));
/** All clients are there and ACK everything, until each holds its view. */
async function settle(): Promise<void> {
  absent.clear();
  for (let waitedMs = 0; waitedMs === 0 || differences().length > 0; waitedMs += 500) {
    if (waitedMs > SETTLE_MS) throw new Error(`seed ${seed}: ${differences().slice(0, 10).join("; ")}`);
    // Streams of clients that flooded may end meanwhile.
    for (let at = 0; at < clients.length; at += CONNECT_AT_ONCE)
      await Promise.all(clients.slice(at, at + CONNECT_AT_ONCE).map((client) => client.makePeace(address)));
    await elapsed(500);
  }
}

const begin = performance.now();
const minute = (): number => (performance.now() - begin) / 60_000;
const memories: number[] = [];
const latencies: number[] = [];
while (minute() < minutes) {
  const roundEnds = performance.now() + ROUND_SECONDS * 1_000;
  const inRound: number[] = [];
  while (performance.now() < roundEnds) {
    await Promise.all(Array.from({ length: ACTIONS_PER_STEP }, act));
    if (random(3) === 0) {
      write();
      tally.edits++;
    }
    if (random(10) === 0) {
      await issueFor(groupOf(random(GROUPS)));
      tally.rotations++;
    }
    inRound.push(await probe());
    await elapsed(50);
  }
  latencies.push(...inRound);
  const now = await sample();
  memories.push(now.mb);
  print(
    `minute ${minute().toFixed(1)}: ${now.mb.toFixed(1)} MB, ${total(now)} handles, an edit ${median(inRound).toFixed(1)} ms`,
  );
}
await settle();
for (const client of clients) await client.close();
let after = await sample();
for (let waitedMs = 0; leftIn(after).length > 0 && waitedMs < 60_000; waitedMs += 1_000) {
  await elapsed(1_000);
  after = await sample();
}
const quarter = (number: number): number =>
  median(memories.slice(Math.floor((memories.length * number) / 4), Math.ceil((memories.length * (number + 1)) / 4)));
const growth = quarter(3) / quarter(1);
print(JSON.stringify(tally));
print(`memory: ${quarter(1).toFixed(1)} to ${quarter(3).toFixed(1)} MB (${((growth - 1) * 100).toFixed(1)} %)`);
print(`without clients again: ${after.mb.toFixed(1)} MB, ${total(after)} handles (${total(before)} before)`);
print(
  `an edit at the client that behaves: ${median(alone).toFixed(1)} ms alone, ${median(latencies).toFixed(1)} ms among them`,
);
const failures = [
  ...(tally.stolen > 0 ? [`${tally.stolen} thefts of ${tally.thefts} succeeded`] : []),
  ...(growth > GROWTH ? [`memory grew by ${((growth - 1) * 100).toFixed(1)} %`] : []),
  ...(leftIn(after).length > 0
    ? [`left are ${leftIn(after).join(", ")}: ${JSON.stringify(before.handles)} before`]
    : []),
  ...(median(latencies) > Math.max(2 * median(alone), median(alone) + SLACK_MS)
    ? ["edits were slower than alone"]
    : []),
];
if (failures.length > 0) throw new Error(`seed ${seed}: ${failures.join("; ")}`);
