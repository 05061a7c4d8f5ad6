import { setImmediate as turn } from "node:timers/promises";
import type { Resource, TypeUrl } from "@xdskit/protocol";
import { WILDCARD } from "@xdskit/protocol/internal";
import type { GraphAnswer, GraphNodeAnswer } from "../answers/resources.ts";
import type { Describer } from "../describe.ts";
import { QueryError } from "../query.ts";
import type { Route } from "../route.ts";
import { graphAnswer } from "../schema/answers.ts";
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
    const links = await readLinks(view);
    const center = keyOf(type, name);
    const isCut = { value: false };
    const shown = new Set([center]);
    follow(center, links.to, shown, isCut);
    const above = new Set([center]);
    follow(center, links.from, above, isCut, MAX_SHOWN - shown.size + 1);
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
  readonly to: ReadonlyMap<string, ReadonlySet<string>>;
  readonly from: ReadonlyMap<string, ReadonlySet<string>>;
}

interface GrowingLinks extends Links {
  readonly found: Map<string, Found>;
  readonly to: Map<string, Set<string>>;
  readonly from: Map<string, Set<string>>;
}

async function readLinks(view: AdminView): Promise<Links> {
  const found = new Map<string, Found>();
  const to = new Map<string, Set<string>>();
  const from = new Map<string, Set<string>>();
  let looked = 0;
  for (const { name: layer, types } of [...view.layers()]) {
    for (const type of types.keys()) {
      for (const resource of view.resources([layer], type)) {
        note(resource, layer, { found, to, from });
        if (++looked % PER_TURN === 0) await turn();
      }
    }
  }
  for (const [key, users] of from)
    if (key.endsWith(WILDCARD) && splitKey(key).name === WILDCARD) leadToEach(key, users, { found, to, from });
  return { found, to, from };
}

/** A reference to all resources of a type leads to each of them. */
function leadToEach(all: string, users: ReadonlySet<string>, { found, to, from }: GrowingLinks): void {
  const { type } = splitKey(all);
  for (const [key, one] of found) {
    if (one.type !== type || one.layer === undefined) continue;
    for (const user of users) {
      to.get(user)?.delete(all);
      addTo(to, user, key);
      addTo(from, key, user);
    }
  }
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
  links: ReadonlyMap<string, ReadonlySet<string>>,
  shown: Set<string>,
  isCut: { value: boolean },
  most = MAX_SHOWN,
): void {
  const queue = [start];
  for (let key = queue.shift(); key !== undefined; key = queue.shift()) {
    for (const next of links.get(key) ?? []) {
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
  const indexOf = new Map(keys.map((key, index) => [key, index]));
  const nodes = keys.map((key): GraphNodeAnswer => {
    const { type, name, layer } = links.found.get(key) ?? splitKey(key);
    return { ...describe.type(type), name, ...(layer === undefined ? { missing: true } : { layer }) };
  });
  const edges = keys.flatMap((key, from) =>
    [...(links.to.get(key) ?? [])].flatMap((other) => {
      const to = indexOf.get(other);
      return to === undefined ? [] : [{ from, to }];
    }),
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
