import { apiListener, cluster, endpoints, listener, routes } from "./resource.ts";
import type { FileContent } from "./site.ts";

/** A mesh with random changes, reproducible by its seed. Every reference resolves at all times. */
export interface RandomMesh {
  /** The current files. */
  files(): Readonly<Record<string, FileContent>>;
  /** Makes one change; returns the changed files, undefined for a deleted one. */
  change(): Readonly<Record<string, FileContent | undefined>>;
}

export interface RandomMeshSettings {
  /** The Listener for gRPC, and the node that sees it. */
  readonly service: string;
  readonly node: string;
  /** The config source of routes and endpoints. */
  readonly source: object;
}

interface Cluster {
  readonly timeoutMs: number;
  readonly ports: readonly number[];
}

interface Listener {
  readonly statPrefix: string;
  readonly clusters: readonly string[];
}

/** Creates a mesh with up to one listener per port, and a gRPC Listener `service` that always exists, for one node. */
export function createRandomMesh(
  seed: number,
  ports: readonly number[],
  { service, node, source }: RandomMeshSettings,
): RandomMesh {
  const random = createRandom(seed);
  const pick = <T>(list: readonly T[]): T => {
    const picked = list[Math.floor(random() * list.length)];
    if (picked === undefined) throw new Error("nothing to pick from");
    return picked;
  };
  let made = 0;
  const clusters = new Map<string, Cluster>();
  const listeners = new Map<string, Listener>();
  const newCluster = (): string => {
    const name = `cluster-${made++}`;
    clusters.set(name, { timeoutMs: 1_000, ports: [10_000 + made] });
    return name;
  };
  const someClusters = (): readonly string[] => [...new Set([pick([...clusters.keys()]), pick([...clusters.keys()])])];
  for (let i = 0; i < 15; i++) newCluster();
  listeners.set(service, { statPrefix: "s", clusters: someClusters() });
  const portOf = (name: string): number => ports[Number(name.split("-")[1])] ?? 0;
  const names = ports.map((_, i) => `listener-${i}`);

  const steps: readonly (() => void)[] = [
    () => void newCluster(),
    () => {
      const used = new Set([...listeners.values()].flatMap((one) => one.clusters));
      const unused = [...clusters.keys()].filter((name) => !used.has(name));
      if (unused.length > 12) clusters.delete(pick(unused));
      else newCluster();
    },
    () => {
      const name = pick([...clusters.keys()]);
      const before = clusters.get(name) ?? { timeoutMs: 0, ports: [] };
      clusters.set(name, { ...before, timeoutMs: 500 + Math.floor(random() * 1_000) });
    },
    () => {
      const name = pick([...clusters.keys()]);
      const before = clusters.get(name) ?? { timeoutMs: 0, ports: [] };
      const count = 1 + Math.floor(random() * 3);
      clusters.set(name, {
        ...before,
        ports: Array.from({ length: count }, () => 10_000 + Math.floor(random() * 50_000)),
      });
    },
    () => {
      const name = pick(names);
      if (listeners.has(name)) listeners.delete(name);
      else listeners.set(name, { statPrefix: `p${made++}`, clusters: someClusters() });
    },
    () => {
      const name = pick([...listeners.keys()]);
      const before = listeners.get(name) ?? { statPrefix: "", clusters: [] };
      listeners.set(name, { ...before, clusters: someClusters() });
    },
    () => {
      const name = pick([...listeners.keys()]);
      const before = listeners.get(name) ?? { statPrefix: "", clusters: [] };
      listeners.set(name, { ...before, statPrefix: `p${made++}` });
    },
  ];

  const files = (): Record<string, FileContent> => {
    const all: Record<string, FileContent> = {};
    for (const [name, { timeoutMs, ports: own }] of clusters) {
      all[`${name}.json`] = [
        cluster({ name, connectTimeoutMs: timeoutMs, source }),
        endpoints(name, [...new Set(own)]),
      ];
    }
    for (const [name, { statPrefix, clusters: used }] of listeners) {
      const table = `routes-${name}`;
      const list = used.map((each, i) => ({ cluster: each, ...(i + 1 < used.length && { prefix: `/${i}/` }) }));
      if (name === service) {
        all[`nodes/${node}/${name}.json`] = [apiListener(name, table), routes(table, list, {}, [name])];
      } else {
        all[`${name}.json`] = [
          listener({ name, port: portOf(name), routes: table, statPrefix, source }),
          routes(table, list),
        ];
      }
    }
    return all;
  };

  let before = files();
  return {
    files,
    change() {
      pick(steps)();
      const after = files();
      const changed: Record<string, FileContent | undefined> = {};
      for (const file of new Set([...Object.keys(before), ...Object.keys(after)])) {
        if (JSON.stringify(before[file]) !== JSON.stringify(after[file])) changed[file] = after[file];
      }
      before = after;
      return changed;
    },
  };
}

/** Random numbers from 0 to less than 1 (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
