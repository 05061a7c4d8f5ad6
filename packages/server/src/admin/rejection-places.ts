import type { AskedResource } from "../source-places.ts";
import type { NamedPlaceAnswer, ProgressAnswer, StragglerAnswer, StragglersAnswer } from "./answers/progress.ts";
import type { AdminView } from "./view.ts";

/** How many resources of a rejection are placed. */
const MOST_PLACED = 5;
/** How many resources of an answer are placed. */
const MOST_ASKED = 500;

type Straggling = StragglerAnswer["types"][number];
type PlaceView = Pick<AdminView, "placesOf" | "placedStreams" | "types">;

/** Adds where it comes from in the source to what nodes NACKed. */
export async function withPlaces(answer: ProgressAnswer, view: PlaceView): Promise<ProgressAnswer> {
  const stragglers = [...answer.nacked.nodes, ...answer.pending.nodes];
  const rejecting = stragglers.filter(({ types }) => types.some(isPlaceable));
  if (view.placesOf === undefined || rejecting.length === 0) return answer;
  const layers = layersOf(new Set(rejecting.map(({ id }) => id)), view);
  const asked = new Map<string, AskedResource>();
  for (const { id, types } of rejecting)
    for (const type of types.filter(isPlaceable))
      for (const one of askedOf(type, layers.get(id) ?? [], view))
        if (asked.size < MOST_ASKED) asked.set(JSON.stringify(one), one);
  const found = await view.placesOf([...asked.values()]);
  const places = new Map([...asked.keys()].map((key, index) => [key, found[index]]));
  const placed = (straggling: Straggling, id: string): Straggling => {
    const named = askedOf(straggling, layers.get(id) ?? [], view).flatMap((one): readonly NamedPlaceAnswer[] => {
      const place = places.get(JSON.stringify(one));
      return place === undefined ? [] : [{ name: one.name, ...place }];
    });
    return named.length === 0 ? straggling : { ...straggling, places: named };
  };
  const listed = ({ total, nodes }: StragglersAnswer): StragglersAnswer => ({
    total,
    nodes: nodes.map((node) => ({
      ...node,
      types: node.types.map((type) => (isPlaceable(type) ? placed(type, node.id) : type)),
    })),
  });
  return { ...answer, pending: listed(answer.pending), nacked: listed(answer.nacked) };
}

function isPlaceable({ state, names }: Straggling): boolean {
  return state === "nacked" && names !== undefined;
}

/** A response is NACKed as a whole; its message says what is wrong with which of them. */
function askedOf(
  { type: url, names = [], reason = "" }: Straggling,
  layers: readonly string[],
  { types }: PlaceView,
): readonly AskedResource[] {
  const type = types.typeNamed(url);
  if (type === undefined) return [];
  const named = names.filter((name) => isNamedIn(reason, name));
  return (named.length > 0 ? named : names).slice(0, MOST_PLACED).map((name) => ({ layers, type, name }));
}

/** Whether a text has a name that is no part of a longer word. */
function isNamedIn(text: string, name: string): boolean {
  const isInWord = (character: string | undefined): boolean => character !== undefined && /[\w-]/.test(character);
  for (let at = text.indexOf(name); name !== "" && at >= 0; at = text.indexOf(name, at + 1))
    if (!isInWord(text[at - 1]) && !isInWord(text[at + name.length])) return true;
  return false;
}

/** The layers of nodes. Looks at every stream. */
function layersOf(ids: ReadonlySet<string>, view: PlaceView): ReadonlyMap<string, readonly string[]> {
  const layers = new Map<string, readonly string[]>();
  for (const { node, layers: ofStream } of view.placedStreams()) if (ids.has(node.id)) layers.set(node.id, ofStream);
  return layers;
}
