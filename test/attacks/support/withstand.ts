import { setTimeout as pause } from "node:timers/promises";
import { expect } from "vitest";
import { note } from "../../e2e/support/measure.ts";
import { until } from "../../e2e/support/wait.ts";
import { Attacker } from "./attacker.ts";
import type { LogLine, Scene } from "./scene.ts";

/** An attack on a server. */
export interface Attack {
  readonly name: string;
  /**
   * One round; rounds repeat until all edits are measured. Connections are closed after the round, or, with `holdsOn`,
   * at the end of the only one.
   */
  readonly round: (attacker: Attacker) => Promise<void>;
  readonly holdsOn?: boolean;
  /**
   * The limits that the attack exceeds, or what happens to its connections. Each is counted, and logged once in ten
   * seconds.
   */
  readonly passes?: readonly (string | "connection-broken" | "connection-refused")[];
  /** What the attack passes or not, as the server's speed wants it; it is told as the others. */
  readonly mayPass?: readonly string[];
}

const EDITS = 5;
/** An edit may take twice as long, or this much longer in milliseconds. */
const SLACK_MS = 50;
/**
 * One window of edits within the limit is enough: attacker and client share the CPUs with the server, so a window may
 * measure their load.
 */
const WINDOWS = 6;
/** Processor time that one turn of the event loop may take in milliseconds, with that of other threads meanwhile. */
const TURN_MS = 500;
/** Memory that the server may use beside 10 %, for code that it had not run before. */
const HEAP_SLACK_BYTES = 8 * 1024 * 1024;
const THROTTLE_MS = 10_000;
/** How long to wait for the first round to end, in milliseconds: the server may stop reading a flood. */
const FIRST_ROUND_MS = 2_000;

/**
 * Checks that edits arrive as fast as before during the attack, that exceeded limits are counted and logged, and that
 * everything is released.
 */
export async function withstand(scene: Scene, attack: Attack): Promise<void> {
  const { server, client } = scene;
  const heldBefore = await scene.heldBytes();
  const countsBefore = await counts(scene, attack);
  const linesBefore = scene.logged().length;
  const quiet = median(await client.edit(EDITS));

  const attacker = new Attacker(scene.nextHost(), server.port);
  const told = (): ReadonlyMap<string, number> => toldOf(scene.logged().slice(linesBefore), attacker.host);
  const startedAt = performance.now();
  const rounds = runRounds(attack, attacker);
  const allowed = Math.max(2 * quiet, quiet + SLACK_MS);
  const medians: number[] = [];
  while (medians.length < WINDOWS && (medians.at(-1) ?? Number.POSITIVE_INFINITY) > allowed) {
    medians.push(median(await client.edit(EDITS)));
  }
  await Promise.race([rounds.first, pause(FIRST_ROUND_MS)]);
  await untilTold(attack, told);
  attacker.end();
  const played = await rounds.all;
  const tookMs = performance.now() - startedAt;

  expect(server.process().ended(), "the server lives").toBeUndefined();
  note(attack.name, "good client", "edit, quiet and attacked, ms", `${round(quiet)} ${medians.map(round).join(" ")}`);
  note(attack.name, "attacker", "rounds", played);
  expect(Math.min(...medians), `edits of the client that behaves (quiet: ${round(quiet)} ms)`).toBeLessThanOrEqual(
    allowed,
  );
  await untilReleased(scene);
  await client.edit(1);
  await scene.heldBytes();
  note(attack.name, "server", "longest turn, ms of processor", round(scene.longestTurn()));
  expect(scene.longestTurn(), "the longest turn of the event loop").toBeLessThanOrEqual(TURN_MS);
  const heldAfter = await untilCollected(scene, heldBefore);
  note(attack.name, "server", "bytes held before and after", `${megabytes(heldBefore)} ${megabytes(heldAfter)} MB`);
  expectTold(attack, { lines: told(), tookMs });
  const grown = (await counts(scene, attack)).map((count, index) => count > (countsBefore[index] ?? 0));
  expect(grown, "each limit is counted").toEqual((attack.passes ?? []).map(() => true));
}

function runRounds(
  attack: Attack,
  attacker: Attacker,
): { readonly first: Promise<void>; readonly all: Promise<number> } {
  const play = (): Promise<void> =>
    attack.round(attacker).catch((error: unknown) => {
      if (!attacker.isOver) throw error; // otherwise its connection was closed at the end of the attack
    });
  const first = play();
  const all = (async () => {
    await first;
    let played = 1;
    while (!attacker.isOver && attack.holdsOn !== true) {
      attacker.hangUp();
      await play();
      played++;
    }
    return played;
  })();
  return { first, all };
}

/** The connections, streams and bytes that the server counts. */
async function used({ server }: Scene): Promise<Readonly<Record<string, number>>> {
  const limit = (name: string): Promise<number> => server.metric("xds_server_limit_used", { limit: name });
  return {
    connections: await limit("maxConnections"),
    streams: await limit("maxStreams"),
    receivedBytes: await limit("maxReceivedBytes"),
  };
}

/** Waits until only the good client's connection is left. */
async function untilReleased(scene: Scene): Promise<void> {
  const quiet = { connections: 1, streams: 1, receivedBytes: 0 };
  let now: object = {};
  await until({ says: "connections, streams and bytes are released", withinMs: 20_000, everyMs: 50 }, async () => {
    now = await used(scene);
    return JSON.stringify(now) === JSON.stringify(quiet);
  }).catch(() => undefined);
  expect(now).toEqual(quiet);
}

/** Waits until the server holds about as much as before; returns the bytes. */
export async function untilCollected(scene: Scene, before: number): Promise<number> {
  const most = before * 1.1 + HEAP_SLACK_BYTES;
  let held = Number.POSITIVE_INFINITY;
  await until({ says: "memory is released", withinMs: 15_000, everyMs: 200 }, async () => {
    held = await scene.heldBytes();
    return held <= most;
  }).catch(() => undefined);
  expect(held, "bytes held after collection").toBeLessThanOrEqual(most);
  return held;
}

function counts({ server }: Scene, { passes = [] }: Attack): Promise<readonly number[]> {
  return Promise.all(
    passes.map((passed) => {
      if (passed === "connection-broken") return server.metric("xds_server_connections_broken_total");
      if (passed === "connection-refused") return server.metric("xds_server_connections_refused_total");
      return server.metric("xds_server_limit_hits_total", { limit: passed });
    }),
  );
}

/** Counts log lines about an attacker, by limit or reason. */
function toldOf(logged: readonly LogLine[], host: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  for (const { event = "", peer = "", limit, reason } of logged) {
    if (!["limit-hit", "connection-broken", "connection-refused"].includes(event) || !peer.startsWith(`${host}:`)) {
      continue;
    }
    const key = limit ?? `${event}: ${reason}`;
    lines.set(key, (lines.get(key) ?? 0) + 1);
  }
  return lines;
}

/** Waits for limits that take a while to be exceeded. */
async function untilTold(attack: Attack, told: () => ReadonlyMap<string, number>): Promise<void> {
  const isTold = (passed: string): boolean =>
    [...told().keys()].some((key) => key === passed || key.startsWith(`${passed}:`));
  await until({ says: "what was passed is told", withinMs: 15_000, everyMs: 50 }, () =>
    (attack.passes ?? []).every(isTold),
  ).catch(() => undefined);
}

function expectTold(attack: Attack, { lines, tookMs }: { lines: ReadonlyMap<string, number>; tookMs: number }): void {
  const subjects = new Set([...lines.keys()].map((key) => (/^connection-\w+/.exec(key) ?? [key])[0]));
  // A connection that the end of the attack closed before its first byte was read counts as refused.
  if (attack.passes?.includes("connection-refused") !== true) subjects.delete("connection-refused");
  for (const limit of attack.mayPass ?? []) subjects.delete(limit);
  expect(subjects, `what is told of the attacker, ${JSON.stringify([...lines])}`).toEqual(new Set(attack.passes));
  const most = 1 + Math.floor(tookMs / THROTTLE_MS);
  expect(
    [...lines].filter(([, count]) => count > most),
    "no more than a line in ten seconds",
  ).toEqual([]);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.POSITIVE_INFINITY;
}

const round = (ms: number): string => ms.toFixed(0);
const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
