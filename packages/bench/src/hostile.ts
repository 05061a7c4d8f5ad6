import { setTimeout as elapsed } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { positive, readOptions, seedFrom } from "./command-line.ts";
import { HostileClient } from "./hostile/client.ts";
import { randomFrom } from "./hostile/random.ts";
import { layers, names, Truth, types, type Write } from "./hostile/views.ts";
import { Peer, SERVER_CPU, tell } from "./peer.ts";

// Clients that NACK, stall, report wrong versions, unsubscribe at once and reconnect, around a server in its own process
// that changes all the time. At the end of each round, all clients ACK everything and must hold exactly their views. At
// the end of a run of more than an hour, the server's memory after garbage collection is at most 10 % above its highest
// value in the second half of the first hour: until then, what is kept up to a number of entries fills up, such as
// journals and the versions served.

const CLIENTS = 12;
const STEPS_PER_ROUND = 400;
const SETTLE_MS = 30_000;
const SETTLED_MINUTES = { from: 30, to: 60 };
const GROWTH = 1.1;

const USAGE = "npm run hostile [-- --minutes N] [--seed N]";
const options = readOptions(USAGE, { minutes: { type: "string", default: "120" }, seed: { type: "string" } });
const minutes = positive(USAGE, "minutes", options.minutes);
const seed = seedFrom(USAGE, options.seed);

const random = randomFrom(seed);
const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T;
const print = (line: string): void => void process.stdout.write(`${line}\n`);

await using server = new Peer(
  process.execPath,
  ["--expose-gc", fileURLToPath(new URL("./hostile/server.js", import.meta.url))],
  SERVER_CPU,
);
const address = String((await server.hears("listening"))["address"]);
const truth = new Truth();
const clients = Array.from({ length: CLIENTS }, (_, i) => new HostileClient(i, random));
for (const client of clients) await client.connect(address);

function write(): void {
  const what = { layer: pick(layers), type: pick(types), name: pick(names) };
  const change: Write = random(3) === 0 ? what : { ...what, label: String(random(1_000)) };
  truth.take(change);
  server.say(JSON.stringify(change));
}

/** All clients ACK everything until each holds its view. */
async function settle(): Promise<void> {
  for (const client of clients) await client.makePeace(address);
  const differences = (): readonly string[] => clients.flatMap((client) => client.differences(truth));
  for (let waitedMs = 0; differences().length > 0; waitedMs += 50) {
    if (waitedMs > SETTLE_MS) await fail(differences());
    await elapsed(50);
  }
  // The server has no reason to end one.
  if (clients.some((client) => client.hasLostStream)) await fail(["a stream ended"]);
}

/** Prints what the clients that failed and the server know of each other. */
async function fail(differences: readonly string[]): Promise<never> {
  const failed = clients.filter((client) => client.hasLostStream || client.differences(truth).length > 0);
  for (const client of failed) print(client.conversation.join("\n"));
  print(JSON.stringify(await tell(server, "streams", "streams"), undefined, 1));
  throw new Error(`seed ${seed}: ${differences.slice(0, 10).join("; ")}`);
}

const begin = performance.now();
const minute = (): number => (performance.now() - begin) / 60_000;
let rounds = 0;
let told = 0;
let settledMb = 0;
let lastMb = 0;
print(`seed ${seed}`);
while (minute() < minutes) {
  for (let step = 0; step < STEPS_PER_ROUND; step++) {
    if (random(3) === 0) write();
    else await pick(clients).act(address);
    if (random(4) === 0) await elapsed(random(5));
  }
  await settle();
  rounds++;
  if (minute() < told + 1) continue;
  told = Math.floor(minute());
  lastMb = Number((await tell(server, "memory", "memory"))["mb"]);
  if (told >= SETTLED_MINUTES.from && told < SETTLED_MINUTES.to) settledMb = Math.max(settledMb, lastMb);
  print(`minute ${told}: ${rounds} rounds, ${lastMb.toFixed(1)} MB`);
}
for (const client of clients) await client.close();
if (told >= SETTLED_MINUTES.to && lastMb > settledMb * GROWTH) {
  throw new Error(`memory grew from ${settledMb.toFixed(1)} to ${lastMb.toFixed(1)} MB`);
}
