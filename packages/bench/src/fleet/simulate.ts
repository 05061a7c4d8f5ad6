/** What one server process on one core needs, as lines through measured points. */
export interface ServerModel {
  /** Until the last of so many clients that come at once is in sync. */
  readonly firstSyncMs: LinearCost;
  /** Until the last of so many clients that come back with what they hold is in sync. */
  readonly reconnectMs: LinearCost;
  /** Until the last of so many clients has a change. */
  readonly changeMs: LinearCost;
  readonly residentMb: LinearCost;
  /** What a client receives. */
  readonly firstSyncBytes: number;
  readonly reconnectBytes: number;
  readonly changeBytes: number;
  /** How long after `publish` a server has the change, in milliseconds: samples. */
  readonly lagMs: readonly number[];
}

/** A straight line: `at + each * clients`. */
export interface LinearCost {
  readonly at: number;
  readonly each: number;
}

export interface FleetLimits {
  /** Within which the last client has 99 of 100 changes. */
  readonly changeMs: number;
  /** Of a server. */
  readonly residentMb: number;
  /** Of a server. */
  readonly connections: number;
}

export interface SimulatedFleet {
  readonly clients: number;
  readonly replicas: number;
  readonly residentMb: number;
  /** Until the last client has a change: the middle and 99 of 100 of the simulated changes. */
  readonly changeMs: readonly [number, number];
  readonly changeBytes: number;
  /** All clients come to all servers at once, as after a failure of everything. */
  readonly firstSyncMs: number;
  readonly firstSyncBytes: number;
  /** The server with the most clients is gone: until the last of them is in sync at another one. */
  readonly lost: { readonly clients: number; readonly ms: number; readonly bytes: number };
}

/** From 0 up to 1. */
export type NextNumber = () => number;

const CHANGES = 500;
/** Envoy waits a random time up to this before it connects again, the first time. */
const BACKOFF_MS = 500;

/** The line through two points. */
export function lineThrough(a: readonly [number, number], b: readonly [number, number]): LinearCost {
  const each = (b[1] - a[1]) / (b[0] - a[0]);
  return { each, at: a[1] - each * a[0] };
}

export function valueAt({ at, each }: LinearCost, clients: number): number {
  return Math.max(0, at + each * clients);
}

/** The smallest fleet that stays within the limits with one server less. */
export function smallestFleet(
  model: ServerModel,
  clients: number,
  limits: FleetLimits,
  random: NextNumber,
): SimulatedFleet {
  for (let replicas = 2; ; replicas++) {
    const each = Math.ceil(clients / (replicas - 1));
    if (each > limits.connections || valueAt(model.residentMb, each) > limits.residentMb) continue;
    const [, worst] = changeTimes(model, clients, replicas - 1, random);
    if (worst <= limits.changeMs) return simulate(model, clients, replicas, random);
  }
}

function simulate(model: ServerModel, clients: number, replicas: number, random: NextNumber): SimulatedFleet {
  const shares = divide(clients, replicas, random);
  const most = Math.max(...shares);
  return {
    ...{ clients, replicas, residentMb: valueAt(model.residentMb, most) },
    changeMs: changeTimes(model, clients, replicas, random),
    changeBytes: model.changeBytes * clients,
    firstSyncMs: valueAt(model.firstSyncMs, most),
    firstSyncBytes: model.firstSyncBytes * clients,
    lost: {
      clients: most,
      ms: Math.max(...divide(most, replicas - 1, random).map((share) => comingBack(model, share, random))),
      bytes: model.reconnectBytes * most,
    },
  };
}

/** Each server has a change after a lag of its own, and then tells its clients one after another. */
function changeTimes(
  model: ServerModel,
  clients: number,
  replicas: number,
  random: NextNumber,
): readonly [number, number] {
  const times = Array.from({ length: CHANGES }, () =>
    Math.max(
      ...divide(clients, replicas, random).map((share) => {
        const lag = model.lagMs[Math.floor(random() * model.lagMs.length)] ?? 0;
        return lag + valueAt(model.changeMs, share);
      }),
    ),
  ).sort((a, b) => a - b);
  return [times[CHANGES / 2 - 1] ?? 0, times[Math.ceil(CHANGES * 0.99) - 1] ?? 0];
}

/** Clients come after their backoff, and are served one after another. */
function comingBack(model: ServerModel, clients: number, random: NextNumber): number {
  const arrivals = Array.from({ length: clients }, () => random() * BACKOFF_MS).sort((a, b) => a - b);
  let free = model.reconnectMs.at;
  for (const arrival of arrivals) free = Math.max(free, arrival) + model.reconnectMs.each;
  return free;
}

/** How many clients each of the servers has, if a load balancer picks one at random for each. */
export function divide(clients: number, replicas: number, random: NextNumber): readonly number[] {
  const shares: number[] = [];
  let left = clients;
  for (let others = replicas - 1; others >= 0; others--) {
    const part = 1 / (others + 1);
    const spread = Math.sqrt(left * part * (1 - part)) * normal(random);
    const share = others === 0 ? left : Math.min(left, Math.max(0, Math.round(left * part + spread)));
    shares.push(share);
    left -= share;
  }
  return shares;
}

function normal(random: NextNumber): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
