import type { TypeUrl } from "@xdskit/protocol";
import type { HeldResource, MeshRoot } from "@xdskit/protocol/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import { covers, held, kindOf, MeshPlay, need, type PlayOptions, SECRET } from "../support/mesh-play.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE } from "../support/resources.ts";
import { tries } from "../support/script.ts";

const NAMES = ["a", "b", "c"] as const;
const TYPES = [LISTENER, ROUTE, CLUSTER, ENDPOINTS, SECRET] as const;
type Name = (typeof NAMES)[number];

/** What a world has of one name, by what it refers to. */
interface Content {
  readonly routes: readonly Name[];
  readonly clusters: readonly Name[];
  readonly endpoints: Name | undefined;
  readonly secrets: readonly Name[];
}

type Step =
  | { readonly kind: "put"; readonly type: TypeUrl; readonly name: Name; readonly content: Content }
  | { readonly kind: "remove"; readonly type: TypeUrl; readonly name: Name }
  /** One piece of news reaches a watch: which one, by a number. */
  | { readonly kind: "tell"; readonly choice: number }
  | { readonly kind: "confirm"; readonly choice: number }
  | { readonly kind: "wait"; readonly ms: number }
  | { readonly kind: "add-root" | "remove-root"; readonly choice: number };

const ROOTS: readonly MeshRoot[] = [
  { root: 1, source: "ads", type: CLUSTER, term: "*", timeoutMs: 15_000 },
  { root: 2, source: "ads", type: LISTENER, term: "*", timeoutMs: 15_000, isLast: true },
  { root: 3, source: "ads", type: LISTENER, term: "a", timeoutMs: 0 },
  { root: 4, source: "ads", type: LISTENER, term: "b", timeoutMs: 15_000 },
  { root: 5, source: "ads", type: CLUSTER, term: "c", timeoutMs: 15_000 },
];

/** A server whose answers come in any order, and a mesh that asks it. */
class World {
  readonly play: MeshPlay;
  readonly #options: PlayOptions;
  readonly #resources = new Map<string, HeldResource>();
  readonly #contents = new Map<HeldResource, Content>();
  /** What each watch was told last. */
  readonly #told = new Map<number, Map<string, HeldResource | "absent">>();
  readonly #synced = new Set<number>();
  readonly #roots = new Set<number>();
  /** When each version was told first, and each name answered last. */
  readonly #heardAt = new Map<string, { readonly ms: number; readonly clock: number }>();
  readonly #answeredAt = new Map<string, number>();
  /** The version of each Cluster that was in use when it was looked at last. */
  readonly #inUse = new Map<string, HeldResource>();
  readonly broken: string[] = [];
  #clock = 0;
  #version = 0;

  constructor(options: PlayOptions) {
    this.#options = options;
    this.play = new MeshPlay(options);
  }

  take(step: Step): void {
    switch (step.kind) {
      case "put":
        this.#put(step);
        break;
      case "remove":
        this.#resources.delete(`${step.type} ${step.name}`);
        break;
      case "tell":
        this.#tell(step.choice);
        break;
      case "confirm":
        this.#confirm(step.choice);
        break;
      case "wait":
        this.play.passes(step.ms);
        break;
      case "add-root":
        this.#addRoot(ROOTS[step.choice % ROOTS.length]);
        break;
      case "remove-root": {
        const { root = 0 } = ROOTS[step.choice % ROOTS.length] ?? {};
        this.#roots.delete(root);
        this.play.on({ kind: "root-removed", root });
        break;
      }
      default:
        step satisfies never;
    }
    this.#look();
  }

  /** Everything is told, and everything that is waited for in vain is given up. */
  finish(): void {
    for (let round = 0; round < 20; round++) {
      while (this.#tell(0)) this.#look();
      this.play.passes(15_000);
      this.#look();
    }
  }

  dropRoots(): void {
    for (const { root } of ROOTS) this.play.on({ kind: "root-removed", root });
  }

  /** What there ought to be, found in the plainest way: everything that is reached, with the watches that lead there. */
  get expected(): { readonly view: Record<string, string>; readonly terms: readonly string[] } {
    const view: Record<string, string> = {};
    const terms = new Set<string>();
    const follow = (type: TypeUrl, term: string): void => {
      if (terms.has(`${kindOf(type)} ${term}`)) return;
      terms.add(`${kindOf(type)} ${term}`);
      const found = [...this.#resources.values()].filter((one) => one.type === type && covers(term, one.name));
      if (found.length === 0 && term !== "*") view[`${kindOf(type)} ${term}`] = "absent";
      for (const resource of found) {
        view[`${kindOf(type)} ${resource.name}`] = `ready ${resource.version}`;
        const { routes, clusters, endpoints, secrets } = this.#contentOf(resource);
        for (const name of routes) follow(ROUTE, name);
        for (const name of secrets) follow(SECRET, name);
        if (endpoints !== undefined) follow(ENDPOINTS, endpoints);
        if (this.#options.followsClusters === true) for (const name of clusters) follow(CLUSTER, name);
      }
    };
    for (const { root, type, term } of ROOTS) if (this.#roots.has(root)) follow(type, term);
    return { view: Object.fromEntries(Object.entries(view).sort()), terms: [...terms].sort() };
  }

  #put({ type, name, content }: Extract<Step, { kind: "put" }>): void {
    const { routes, clusters, endpoints, secrets } = contentFor(type, content);
    const resource = held(type, name, `v${++this.#version}`, [
      ...routes.map((one) => need.routes(one)),
      ...clusters.map((one) => need.cluster(one)),
      ...(endpoints === undefined ? [] : [need.endpoints(endpoints)]),
      ...secrets.map((one) => need.secret(one)),
    ]);
    this.#contents.set(resource, { routes, clusters, endpoints, secrets });
    this.#resources.set(`${type} ${name}`, resource);
  }

  #contentOf(resource: HeldResource): Content {
    return this.#contents.get(resource) ?? { routes: [], clusters: [], endpoints: undefined, secrets: [] };
  }

  #addRoot(root: MeshRoot | undefined): void {
    if (root === undefined || this.#roots.has(root.root)) return;
    this.#roots.add(root.root);
    this.play.on({ kind: "root-added", root });
  }

  /** All that could be told now. */
  get #pending(): readonly (() => void)[] {
    return [...this.play.watches.values()].flatMap(({ watch, type, term }) => {
      const told = this.#told.get(watch) ?? new Map<string, HeldResource | "absent">();
      this.#told.set(watch, told);
      const there = [...this.#resources.values()].filter((one) => one.type === type && covers(term, one.name));
      const names = new Set([...told.keys(), ...there.map(({ name }) => name), ...(term === "*" ? [] : [term])]);
      const pieces = [...names].flatMap((name) => {
        const resource = there.find((one) => one.name === name);
        const before = told.get(name);
        if (before === (resource ?? "absent")) return [];
        return [() => this.#tellOf(watch, name, resource)];
      });
      const isSynced = term !== "*" || this.#synced.has(watch) || pieces.length > 0;
      return isSynced ? pieces : [() => this.#sync(watch)];
    });
  }

  #tell(choice: number): boolean {
    const pending = this.#pending;
    const one = pending[choice % Math.max(1, pending.length)];
    one?.();
    return one !== undefined;
  }

  #tellOf(watch: number, name: string, resource: HeldResource | undefined): void {
    const type = this.play.watches.get(watch)?.type ?? LISTENER;
    const told = this.#told.get(watch);
    const before = told?.get(name);
    told?.set(name, resource ?? "absent");
    this.#answeredAt.set(`${type} ${name}`, ++this.#clock);
    if (resource !== undefined && !this.#heardAt.has(heardKey(resource)))
      this.#heardAt.set(heardKey(resource), { ms: this.play.nowMs, clock: this.#clock });
    const why = before === undefined ? "does-not-exist" : "removed";
    this.play.on({
      kind: "news",
      watch,
      news:
        resource === undefined ? { kind: "absent", name, why, held: undefined } : { kind: "changed", name, resource },
    });
  }

  #sync(watch: number): void {
    this.#synced.add(watch);
    this.play.on({ kind: "news", watch, news: { kind: "synced" } });
  }

  #confirm(choice: number): void {
    const held = [...this.play.watches.values()].flatMap(({ watch, type, wantsConfirmations }) =>
      wantsConfirmations
        ? [...(this.#told.get(watch) ?? [])].flatMap(([name, resource]) =>
            resource === "absent" ? [] : [{ watch, type, name, resource }],
          )
        : [],
    );
    const one = held[choice % Math.max(1, held.length)];
    if (one === undefined) return;
    const { watch, type, name, resource } = one;
    this.#answeredAt.set(`${type} ${name}`, ++this.#clock);
    this.play.on({ kind: "news", watch, news: { kind: "confirmed", name, resource } });
  }

  /** No Cluster may be in use that was never warm: all that it waits for was answered, an update by new endpoints, or 15 s went by. */
  #look(): void {
    for (const { type, name, resource } of this.play.nodes.values()) {
      if (type !== CLUSTER) continue;
      const before = this.#inUse.get(name);
      if (resource === undefined) this.#inUse.delete(name);
      else if (before !== resource) {
        this.#inUse.set(name, resource);
        if (!this.#isWarm(resource, before)) this.broken.push(heardKey(resource));
      }
    }
    for (const name of this.#inUse.keys()) if (this.play.view[`cds ${name}`] === undefined) this.#inUse.delete(name);
  }

  #isWarm(resource: HeldResource, before: HeldResource | undefined): boolean {
    const { endpoints, secrets } = this.#contentOf(resource);
    const { ms, clock } = this.#heardAt.get(heardKey(resource)) ?? { ms: 0, clock: 0 };
    if (this.play.nowMs - ms >= 15_000) return true;
    const isUpdate = before !== undefined && this.#contentOf(before).endpoints === endpoints;
    const waitsAnew = this.#options.edsCache !== "at-once" && this.#options.isAggregated?.("ads") !== false;
    const least = isUpdate && waitsAnew ? clock : 0;
    const areEndpointsThere =
      endpoints === undefined || (this.#answeredAt.get(`${ENDPOINTS} ${endpoints}`) ?? -1) >= least;
    return areEndpointsThere && secrets.every((name) => this.#answeredAt.has(`${SECRET} ${name}`));
  }
}

function heardKey({ type, name, version }: HeldResource): string {
  return `${kindOf(type)} ${name} ${version}`;
}

/** Only what a resource of the type can refer to. */
function contentFor(type: TypeUrl, content: Content): Content {
  return {
    routes: type === LISTENER ? content.routes : [],
    clusters: type === ROUTE || type === CLUSTER ? content.clusters : [],
    endpoints: type === CLUSTER ? content.endpoints : undefined,
    secrets: type === CLUSTER || type === LISTENER ? content.secrets : [],
  };
}

const name = fc.constantFrom(...NAMES);
const some = fc.uniqueArray(name, { maxLength: 2 });
const content = fc.record({
  ...{ routes: some, clusters: some, secrets: fc.uniqueArray(name, { maxLength: 1 }) },
  endpoints: fc.option(name, { nil: undefined }),
});
// Clusters are what most is to be seen of.
const type = fc.constantFrom(...TYPES, CLUSTER, CLUSTER);
const choice = fc.nat(30);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("put" as const), type, name, content }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), type, name }) },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant("tell" as const), choice }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("confirm" as const), choice }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wait" as const), ms: fc.constantFrom(1, 7_000, 15_000) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("add-root" as const), choice: fc.nat(ROOTS.length - 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove-root" as const), choice }) },
);
const options = fc.record({
  followsClusters: fc.boolean(),
  isAggregated: fc.constantFrom(
    () => true,
    () => false,
  ),
  edsCache: fc.constantFrom("on" as const, "off" as const, "at-once" as const),
});

test("C-DEL-03 C-WRM-01 a mesh comes to hold what its roots reach, shows no Cluster that was never warm, and lets go of all", () => {
  fc.assert(
    fc.property(options, fc.array(step, { minLength: 5, maxLength: 100, size: "max" }), (chosen, steps) => {
      const world = new World({ ...chosen, childRemoval: "drop" });
      for (const one of steps) world.take(one);
      world.finish();
      expect({ view: world.play.view, terms: world.play.terms }).toEqual(world.expected);
      expect(world.broken).toEqual([]);
      expect([world.play.timers.size, world.play.isComplete]).toEqual([0, true]);
      world.dropRoots();
      const { machine, view, terms, timers } = world.play;
      expect([view, terms, timers.size, machine.watches, machine.timers]).toEqual([{}, [], 0, 0, 0]);
      expect(machine.isComplete).toBe(true);
    }),
    tries,
  );
});
