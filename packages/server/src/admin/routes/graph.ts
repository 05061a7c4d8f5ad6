import { setImmediate as turn } from "node:timers/promises";
import type { Resource, TypeUrl } from "@xdskit/protocol";
import { WILDCARD } from "@xdskit/protocol/internal";
import { SharedQuestion } from "../../shared-question.ts";
import type { GraphAnswer, GraphNodeAnswer } from "../answers/resources.ts";
import type { Describer } from "../describe.ts";
import { QueryError } from "../query.ts";
import type { Route } from "../route.ts";
import { graphAnswer } from "../schema/resources.ts";
import type { AdminView } from "../view.ts";
import { chosenType } from "./resources.ts";

/** How many resources a graph shows at most. */
const MAX_SHOWN = 100;
/** Resources that are looked at in one turn of the event loop. */
const PER_TURN = 500;

/** What a resource refers to, and what refers to it, over any number of steps. */
export const graph: Route = {
  path: "/api/v1/graph",
  says: "the resources that one refers to and that refer to it, over any number of steps; at most 100",
  parameters: { type: "the type of the resource (required)", name: "its name (required)" },
  answers: { 200: graphAnswer },
  async answer({ view, describe }, query) {
    const [type, name] = [chosenType(view, query), query.text("name")];
    if (type === undefined || name === undefined) throw new QueryError(400, "type and name are required");
    const links = await linksOf(view);
    const center = keyOf(type, name);
    const isCut = { value: false };
    const shown = new Set([center]);
    follow(center, (key) => targetsOf(key, links), shown, isCut);
    const above = new Set([center]);
    follow(center, (key) => usersOf(key, links), above, isCut, MAX_SHOWN - shown.size + 1);
    for (const key of above) shown.add(key);
    return { kind: "json", value: describeGraph([...shown], links, describe, isCut.value) };
  },
};

interface Found {
  readonly type: TypeUrl;
  readonly name: string;
  /** Absent for a name that only references have. */
  readonly layer?: string;
}

interface Links {
  readonly found: ReadonlyMap<string, Found>;
  /** The keys of what a resource refers to, which may be all resources of a type. */
  readonly to: ReadonlyMap<string, ReadonlySet<string>>;
  readonly from: ReadonlyMap<string, ReadonlySet<string>>;
  /** The resources of each type of which something refers to all. */
  readonly all: ReadonlyMap<TypeUrl, readonly string[]>;
}

interface GrowingLinks {
  readonly found: Map<string, Found>;
  readonly to: Map<string, Set<string>>;
  readonly from: Map<string, Set<string>>;
}

/** All resources are read for it, so whoever asks while others do shares what is read. */
const reading = new WeakMap<AdminView, SharedQuestion<Links>>();

function linksOf(view: AdminView): Promise<Links> {
  const shared = reading.get(view) ?? new SharedQuestion(() => readLinks(view));
  reading.set(view, shared);
  return shared.ask();
}

async function readLinks(view: AdminView): Promise<Links> {
  const found = new Map<string, Found>();
  const to = new Map<string, Set<string>>();
  const from = new Map<string, Set<string>>();
  const all = new Map<TypeUrl, string[]>();
  let looked = 0;
  for (const { name: layer, types } of [...view.layers()]) {
    for (const type of types.keys()) {
      for (const resource of view.resources([layer], type)) {
        note(resource, layer, { found, to, from });
        if (++looked % PER_TURN === 0) await turn();
      }
    }
  }
  for (const key of from.keys())
    if (key.endsWith(WILDCARD) && splitKey(key).name === WILDCARD) all.set(splitKey(key).type, []);
  for (const [key, { type, layer }] of found) {
    if (layer !== undefined) all.get(type)?.push(key);
    if (++looked % PER_TURN === 0) await turn();
  }
  return { found, to, from, all };
}

/** What a resource refers to: each resource of a type if it refers to all. They are not kept as pairs, which may be millions. */
function* targetsOf(key: string, { to, all }: Links): Iterable<string> {
  for (const target of to.get(key) ?? []) {
    const { type, name } = splitKey(target);
    const each = name === WILDCARD ? (all.get(type) ?? []) : [];
    if (each.length === 0) yield target;
    else yield* each;
  }
}

function* usersOf(key: string, { found, from, all }: Links): Iterable<string> {
  yield* from.get(key) ?? [];
  const one = found.get(key);
  if (one?.layer !== undefined && all.has(one.type)) yield* from.get(keyOf(one.type, WILDCARD)) ?? [];
}

function refersTo(key: string, other: string, { found, to }: Links): boolean {
  const targets = to.get(key);
  const one = found.get(other);
  if (targets === undefined) return false;
  return targets.has(other) || (one?.layer !== undefined && targets.has(keyOf(one.type, WILDCARD)));
}

function note(
  { type, name: ownName, variant, aliases, references }: Resource,
  layer: string,
  { found, to, from }: GrowingLinks,
): void {
  const name = variant?.name ?? ownName;
  const key = keyOf(type, name);
  if (found.get(key)?.layer === undefined) found.set(key, { type, name, layer });
  for (const alias of aliases) addTo(to, keyOf(type, alias), key);
  for (const reference of references) {
    const other = keyOf(reference.type, reference.name);
    if (!found.has(other)) found.set(other, { type: reference.type, name: reference.name });
    addTo(to, key, other);
    addTo(from, other, key);
  }
}

function addTo(map: Map<string, Set<string>>, key: string, value: string): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, new Set([value]));
  else values.add(value);
}

/** Adds everything that can be reached, breadth first. */
function follow(
  start: string,
  neighboursOf: (key: string) => Iterable<string>,
  shown: Set<string>,
  isCut: { value: boolean },
  most = MAX_SHOWN,
): void {
  const queue = [start];
  for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
    for (const next of neighboursOf(key)) {
      if (shown.has(next)) continue;
      if (shown.size >= most) {
        isCut.value = true;
        return;
      }
      shown.add(next);
      queue.push(next);
    }
  }
}

function describeGraph(keys: readonly string[], links: Links, describe: Describer, isCut: boolean): GraphAnswer {
  const nodes = keys.map((key): GraphNodeAnswer => {
    const { type, name, layer } = links.found.get(key) ?? splitKey(key);
    return { ...describe.type(type), name, ...(layer === undefined ? { missing: true } : { layer }) };
  });
  const edges = keys.flatMap((key, from) =>
    keys.flatMap((other, to) => (refersTo(key, other, links) ? [{ from, to }] : [])),
  );
  return { nodes, edges, ...(isCut && { isCut }) };
}

function keyOf(type: TypeUrl, name: string): string {
  return `${type} ${name}`;
}

function splitKey(key: string): Found {
  const end = key.indexOf(" ");
  return { type: key.slice(0, end) as TypeUrl, name: key.slice(end + 1) };
}
