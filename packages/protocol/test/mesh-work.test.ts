import type { HeldResource, MeshEvent, WatchEvent } from "@xdskit/protocol/internal";
import { describe, expect, test } from "vitest";
import { held, MeshPlay, need } from "./support/mesh-play.ts";
import { listening } from "./support/mesh-starts.ts";
import { CLUSTER, ENDPOINTS, HOST, LISTENER, ROUTE } from "./support/resources.ts";
import { Work } from "./support/work.ts";

/** The steps that a mesh takes for events of so many names. */
type Story = (count: number) => number;

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

/** A route configuration with on-demand hosts, which uses so many Clusters, and so many demanded hosts of it. */
class Table {
  readonly mesh = listening();
  /** The steps to demand the hosts. */
  readonly work: number;
  readonly #starts: { readonly watch: number; readonly term: string }[] = [];
  readonly #clusters: number;
  readonly #watches: readonly number[];

  constructor(clusters: number, hosts: number) {
    this.#clusters = clusters;
    this.mesh.gets(held(LISTENER, "l", "1", [need.routes("r")]), this.#version("1")).syncs(HOST);
    const route = this.mesh.node(ROUTE, "r").id;
    const hear = this.#hearing();
    this.work = new Work().of(() => {
      for (const i of upTo(hosts))
        hear({ kind: "demanded", demand: i, what: { kind: "virtual-host", route, host: `h${i}` }, timeoutMs: 5_000 });
    });
    this.#watches = this.#starts.filter(({ term }) => term.startsWith("r/")).map(({ watch }) => watch);
  }

  /** The steps of a change of the routes. */
  change(): number {
    const [watch] = [...this.mesh.watches.values()].filter(({ term }) => term === "r").map((one) => one.watch);
    const resource = this.#version("2");
    return new Work().of(() => this.#tell(watch ?? 0, { kind: "changed", name: "r", resource }));
  }

  /** The steps until no demanded host exists; the server says so of the newest first. */
  lose(): number {
    return new Work().of(() => {
      for (const [i, watch] of [...this.#watches.entries()].reverse())
        this.#tell(watch, { kind: "absent", name: `r/h${i}`, why: "does-not-exist", held: undefined });
    });
  }

  #version(version: string): HeldResource {
    return held(ROUTE, "r", version, [...upTo(this.#clusters).map((i) => need.cluster(`c${i}`)), need.hosts()]);
  }

  #tell(watch: number, news: WatchEvent): void {
    this.#hearing()({ kind: "news", watch, news });
  }

  /** Nothing is published: a node lists all of its links. */
  #hearing(): (event: MeshEvent) => void {
    return (event) => {
      for (const effect of this.mesh.machine.on(event, { nowMs: 0 }))
        if (effect.kind === "start-watch") this.#starts.push(effect);
    };
  }
}

/** So many Clusters, each a root: the steps to watch them, until they are answered, and until they are warm. */
function roots(count: number): { readonly watch: number; readonly answer: number; readonly warm: number } {
  const { machine } = new MeshPlay();
  const clusters = upTo(count).map((i) => held(CLUSTER, `c${i}`, "1", [need.endpoints(`c${i}`)]));
  const endpoints = clusters.map(({ name }) => held(ENDPOINTS, name, "1"));
  const watches = new Map<string, number>();
  const hear = (event: MeshEvent): void => {
    for (const effect of machine.on(event, { nowMs: 0 }))
      if (effect.kind === "start-watch") watches.set(`${effect.type} ${effect.term}`, effect.watch);
  };
  const get = (resource: HeldResource): void => {
    const { type, name } = resource;
    hear({ kind: "news", watch: watches.get(`${type} ${name}`) ?? 0, news: { kind: "changed", name, resource } });
  };
  const watch = new Work().of(() => {
    for (const [root, { name: term }] of clusters.entries())
      hear({ kind: "root-added", root: { root, source: "ads", type: CLUSTER, term, timeoutMs: 0 } });
  });
  const answer = new Work().of(() => clusters.forEach(get));
  expect(machine.isComplete).toBe(false);
  const warm = new Work().of(() => endpoints.forEach(get));
  expect(machine.isComplete).toBe(true);
  return { watch, answer, warm };
}

describe("twice as many are at most twice the work", () => {
  const stories: readonly (readonly [is: string, story: Story])[] = [
    ["demanded hosts", (count) => new Table(0, count).work],
    ["Clusters and demanded hosts", (count) => new Table(count, count).work],
    ["demanded hosts of routes that change", (count) => new Table(count, count).change()],
    ["demanded hosts that do not exist", (count) => new Table(0, count).lose()],
    ["roots", (count) => roots(count).watch],
    ["answers for roots", (count) => roots(count).answer],
    ["roots that become warm", (count) => roots(count).warm],
  ];

  test.each(stories)("%s", (_, story) => {
    const steps = story(200);
    expect(steps).toBeGreaterThan(200);
    expect(story(400)).toBeLessThan(2.1 * steps);
  });
});
