import { setTimeout as pause } from "node:timers/promises";
import { clusterOf } from "../../../packages/store-etcd/test/support/etcd.ts";
import { endAlarm } from "./etcdctl.ts";
import type { Publisher } from "./publisher.ts";
import type { Random } from "./random.ts";
import type { Follower } from "./servers.ts";
import type { Ailment, Link } from "./toxiproxy.ts";
import type { User, World } from "./world.ts";

/** A fault that lasts until it is ended. */
export interface Fault {
  readonly is: string;
  /** What no other fault may strike meanwhile. */
  readonly strikes: readonly object[];
  begin(): Promise<unknown> | undefined;
  end(): Promise<unknown> | undefined;
}

const HOUR = 3_600;

type Kind = (world: World, random: Random) => Fault | undefined | Promise<Fault | undefined>;

const cuts: readonly Ailment[] = [
  { kind: "silent" },
  { kind: "silent", only: "upstream" },
  { kind: "silent", only: "downstream" },
  { kind: "closed" },
];
const delays: readonly Ailment[] = [
  { kind: "slow", ms: 300, jitterMs: 200 },
  { kind: "narrow", kilobytesPerSecond: 20 },
];
const ailments: readonly Ailment[] = [...cuts, ...delays];

/** All kinds of faults; each returns undefined if it cannot strike now. */
const kinds: readonly Kind[] = [
  function killServer({ servers, kill }, random) {
    const { is } = random.pick(servers);
    return { is: `server ${is.index} is killed`, strikes: [is], begin: () => kill(is), end: () => is.start() };
  },
  function killWorker({ servers }, random) {
    const having = servers.filter(({ is }) => is.workers().length > 0);
    if (having.length === 0) return undefined;
    const { is } = random.pick(having);
    const begin = async (): Promise<void> => {
      for (const pid of is.workers().slice(0, 1)) process.kill(pid, "SIGKILL");
    };
    return { is: `a worker of server ${is.index} is killed`, strikes: [is], begin, end: () => undefined };
  },
  function stopServer({ servers }, random) {
    const { is } = random.pick(servers);
    return stopped(`server ${is.index}`, is, (signal) => is.signal(signal));
  },
  function cutServerOff({ servers }, random) {
    const { is, links } = random.pick(servers);
    return ailing(`the links of server ${is.index}`, links, random.pick(ailments));
  },
  function cutClientsOff({ servers, leave }, random) {
    const { is, ways } = random.pick(servers);
    const link = random.pick(ways);
    const ailment = random.pick(cuts);
    const fault = ailing(`a link of clients to server ${is.index}`, [link], ailment);
    return ailment.kind === "closed" ? andLeave(fault, () => leave(link)) : fault;
  },
  function slowClientsDown({ servers }, random) {
    const { is, ways } = random.pick(servers);
    return ailing(`a link of clients to server ${is.index}`, [random.pick(ways)], random.pick(delays));
  },
  function resetClients({ servers, leave }, random) {
    const { is, ways } = random.pick(servers);
    const link = random.pick(ways);
    return andLeave(ailing(`a link of clients to server ${is.index}`, [link], { kind: "reset" }), () => leave(link));
  },
  function killMember({ members }, random) {
    const { etcd } = random.pick(members);
    return restarted(`member ${etcd.name}`, etcd, members);
  },
  async function killLeader({ members, leader }) {
    const etcd = (await leader())?.etcd;
    return etcd && restarted(`the leader, ${etcd.name},`, etcd, members);
  },
  function stopMember({ members }, random) {
    const { etcd } = random.pick(members);
    return stopped(`member ${etcd.name}`, etcd, (signal) => etcd.signal(signal));
  },
  function cutMemberOff({ members }, random) {
    const { etcd, peerLink } = random.pick(members);
    return ailing(`the link to member ${etcd.name}`, [peerLink], random.pick(ailments));
  },
  function killPublisher({ publishers }, random) {
    const { is } = random.pick(publishers);
    return { is: "a publisher is killed", strikes: [is], begin: async () => is.kill(), end: () => undefined };
  },
  function fillDiskOfMember({ members }, random) {
    const { etcd, disk } = random.pick(members);
    const { end, ...restart } = restarted(`member ${etcd.name}`, etcd, members);
    return (
      disk && {
        ...restart,
        is: `the disk of member ${etcd.name} is full`,
        begin: async () => disk.fill(),
        // It ends itself if it could not write.
        end: async () => {
          disk.free();
          await restart.begin();
          await end();
        },
      }
    );
  },
  function useUpQuota({ members }, random) {
    const { etcd } = random.pick(members);
    const cluster = clusterOf(members.map((one) => one.etcd));
    return {
      is: `the quota of member ${etcd.name} is used up`,
      strikes: [etcd],
      async begin() {
        await etcd.kill();
        await etcd.start(cluster, ["--quota-backend-bytes", "4096"]);
      },
      async end() {
        await etcd.kill();
        await etcd.start(cluster);
        await endAlarm(etcd);
      },
    };
  },
  function fillDiskOfServer({ servers }, random) {
    const { is } = random.pick(servers);
    const { disk } = is;
    // It may be killed meanwhile, and start with it.
    return (
      disk && {
        is: `the disk of server ${is.index} is full`,
        strikes: [disk],
        begin: async () => disk.fill(),
        end: async () => disk.free(),
      }
    );
  },
  function jumpClock({ servers, publishers }, random) {
    const { is } = random.pick<User<Follower | Publisher>>([...servers, ...publishers]);
    const { clock } = is;
    const seconds = random.pick([HOUR, -HOUR]);
    const who = "index" in is ? `server ${is.index}` : "a publisher";
    return (
      clock && {
        is: `the clock of ${who} jumps by ${seconds} s`,
        strikes: [clock],
        begin: async () => clock.jump(seconds),
        end: async () => clock.jump(0),
      }
    );
  },
  function jumpClockOfMember({ members }, random) {
    const { etcd, clock } = random.pick(members);
    const seconds = random.pick([HOUR, -HOUR]);
    return (
      clock && {
        is: `the clock of member ${etcd.name} jumps by ${seconds} s`,
        strikes: [clock],
        begin: async () => clock.jump(seconds),
        end: async () => clock.jump(0),
      }
    );
  },
  function stopPublisher({ publishers }, random) {
    const { is } = random.pick(publishers);
    return stopped("a publisher", is, (signal) => is.signal(signal));
  },
  function cutPublisherOff({ publishers }, random) {
    const { links } = random.pick(publishers);
    return ailing("the links of a publisher", links, random.pick(ailments));
  },
];

function stopped(who: string, strikes: object, signal: (signal: "SIGSTOP" | "SIGCONT") => void): Fault {
  return {
    is: `${who} is stopped`,
    strikes: [strikes],
    begin: async () => signal("SIGSTOP"),
    end: async () => signal("SIGCONT"),
  };
}

function restarted(who: string, etcd: World["members"][number]["etcd"], members: World["members"]): Fault {
  const cluster = clusterOf(members.map((one) => one.etcd));
  return { is: `${who} is killed`, strikes: [etcd], begin: () => etcd.kill(), end: () => etcd.start(cluster) };
}

function ailing(who: string, links: readonly Link[], ailment: Ailment): Fault {
  const all = (does: (link: Link) => Promise<void>): Promise<unknown> => Promise.all(links.map(does));
  return {
    is: `${who}: ${ailment.kind}${"only" in ailment ? ` ${ailment.only}` : ""}`,
    strikes: [links[0] as Link],
    begin: () => all((link) => link.ail(ailment)),
    end: () => all((link) => link.heal(ailment)),
  };
}

/** Those whose connections end look for another server; of a link that is silent nobody is told. */
function andLeave(fault: Fault, leave: () => void): Fault {
  return {
    ...fault,
    async begin() {
      await fault.begin();
      leave();
    },
  };
}

/** As in the logs of servers and Envoys. */
function now(): string {
  return new Date().toISOString();
}

/** Only kinds whose names match, to look at something alone. */
const only = new RegExp(process.env["XDS_CHAOS_ONLY"] ?? "");
const among = kinds.filter(({ name }) => only.test(name));

/** How many faults there may be at the same time. */
const LANES = 2;

/** What was done to a world. */
export interface Strikes {
  /** With times. */
  readonly log: readonly string[];
  /** How often each kind of fault struck. */
  readonly counts: Readonly<Record<string, number>>;
}

/** The names of the faults that cannot strike here, with what is missing. */
export function impossible({ members, servers }: World): Readonly<Record<string, string>> {
  const missing: Record<string, string> = {};
  if (members.some(({ disk }) => disk === undefined)) missing["fillDiskOfMember"] = NO_MOUNT;
  if (servers.some(({ is }) => is.disk === undefined)) missing["fillDiskOfServer"] = NO_MOUNT;
  if (servers.some(({ is }) => is.clock === undefined)) missing["jumpClock"] = "libfaketime is not installed";
  if (members.some(({ clock }) => clock === undefined))
    missing["jumpClockOfMember"] = "etcd-with-clock is not installed";
  return missing;
}

const NO_MOUNT = "this user may not mount a file system";

/** Faults at random: each kind once, in any order, and then again. */
export class Faults implements Strikes {
  readonly log: string[] = [];
  readonly counts: Record<string, number> = Object.fromEntries(among.map(({ name }) => [name, 0]));
  readonly #world: World;
  readonly #random: Random;
  readonly #possible: readonly Kind[];
  readonly #due: Kind[] = [];

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    const missing = impossible(world);
    this.#possible = among.filter(({ name }) => missing[name] === undefined);
    if (this.#possible.length === 0)
      throw new Error(`none of the chosen faults can strike: ${JSON.stringify(missing)}`);
  }

  /** Strikes for so long. Everything is repaired when it resolves. */
  async strike(forMs: number): Promise<void> {
    const until = performance.now() + forMs;
    const struck = new Set<object>();
    const lane = async (): Promise<void> => {
      while (performance.now() < until) await this.#next(struck);
    };
    await Promise.all(Array.from({ length: LANES }, lane));
  }

  async #next(struck: Set<object>): Promise<void> {
    const random = this.#random;
    if (this.#due.length < LANES) this.#due.unshift(...random.shuffle(this.#possible));
    const kind = this.#due.pop() as Kind;
    const fault = await kind(this.#world, random);
    if (fault === undefined || fault.strikes.some((one) => struck.has(one))) {
      this.#due.unshift(kind);
      await pause(10);
      return;
    }
    const lastsMs = 500 + random.below(3_500);
    for (const one of fault.strikes) struck.add(one);
    this.counts[kind.name] = (this.counts[kind.name] ?? 0) + 1;
    this.log.push(`${now()}: ${fault.is} for ${lastsMs} ms`);
    await fault.begin();
    await pause(lastsMs);
    await fault.end();
    this.log.push(`${now()}: no more: ${fault.is}`);
    for (const one of fault.strikes) struck.delete(one);
    await pause(random.below(1_000));
  }
}
