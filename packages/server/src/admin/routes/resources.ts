import { anonymousNode, type Resource, type TypeUrl } from "@xdskit/protocol";
import { describeConstraints, globMatches, type LayerState } from "@xdskit/protocol/internal";
import type { ResourceAnswer } from "../answers/resources.ts";
import { type Describer, describeError } from "../describe.ts";
import { type Query, QueryError } from "../query.ts";
import { page, pageParameters, type Route, type Step } from "../route.ts";
import type { AdminView } from "../view.ts";

/** The resources of the layers. Secrets are redacted. */
export const resources: Route = {
  path: "/api/v1/resources",
  says: "resources; ?body=true includes their content, with secrets redacted",
  parameters: {
    type: "a short name (cds), a message name or a type URL",
    layer: "only this layer",
    node: "only resources that this node sees: of each name, the one in its highest layer",
    name: "only this name; may be repeated",
    matches: "only names that match this glob",
    body: "true: include the resource as JSON",
    ...pageParameters,
  },
  answer: ({ view, describe }, query) => page(query, findResources(view, describe, query)),
};

function* findResources(view: AdminView, describe: Describer, query: Query): Iterable<Step> {
  const names = query.texts("name");
  const pattern = query.text("matches");
  const withBody = query.flag("body");
  for (const { layer, types } of chosenLayers(view, query)) {
    for (const [type, seen] of types) {
      for (const resource of view.resources([layer], type)) {
        const name = resource.variant?.name ?? resource.name;
        const isShadowed = (seen?.get(name) ?? layer) !== layer;
        if (!isShadowed) seen?.set(name, layer);
        const isNamed = (names?.has(name) ?? true) && (pattern === undefined || globMatches(pattern, name));
        const isWanted = !isShadowed && isNamed;
        yield isWanted ? () => describeResource(view, describe, { layer, resource, withBody }) : undefined;
      }
    }
  }
}

/** The layers to list, with their types; for a node, each type with the layer of each name seen so far. */
function chosenLayers(
  view: AdminView,
  query: Query,
): readonly { layer: string; types: ReadonlyMap<TypeUrl, Map<string, string> | undefined> }[] {
  const byName = new Map([...view.layers()].map((layer) => [layer.name, layer]));
  const node = query.text("node");
  const layer = query.text("layer");
  if (node !== undefined && layer !== undefined) throw new QueryError(400, "node and layer do not go together");
  if (layer !== undefined && !byName.has(layer)) {
    throw new QueryError(
      404,
      `there is no layer ${JSON.stringify(layer)}`,
      `there are ${[...byName.keys()].join(", ")}`,
    );
  }
  const names = node !== undefined ? layersOfNode(view, node) : layer !== undefined ? [layer] : [...byName.keys()];
  const only = chosenType(view, query);
  const seen = new Map<TypeUrl, Map<string, string>>();
  return names.map((name) => ({
    layer: name,
    types: new Map(
      typesOf(byName.get(name), only).map((type) => [type, node === undefined ? undefined : seenOf(seen, type)]),
    ),
  }));
}

function typesOf(layer: LayerState | undefined, only: TypeUrl | undefined): readonly TypeUrl[] {
  const types = [...(layer?.types.keys() ?? [])];
  return only === undefined ? types : types.filter((type) => type === only);
}

function seenOf(seen: Map<TypeUrl, Map<string, string>>, type: TypeUrl): Map<string, string> {
  const names = seen.get(type) ?? new Map<string, string>();
  seen.set(type, names);
  return names;
}

/** The requested type; undefined without the parameter `type`. */
export function chosenType(view: AdminView, query: Query): TypeUrl | undefined {
  const text = query.text("type");
  if (text === undefined) return undefined;
  const type = view.types.typeNamed(text);
  if (type !== undefined) return type;
  const known = view.types.types.flatMap(({ shortName }) => (shortName === "" ? [] : [shortName]));
  throw new QueryError(400, `unknown type ${JSON.stringify(text)}`, `it may be ${known.join(", ")}, or a type URL`);
}

/** The layers of a connected node; any other node is mapped as if it connected from this machine. */
function layersOfNode(view: AdminView, id: string): readonly string[] {
  for (const { node, layers } of view.streams()) if (node?.id === id) return layers;
  const peer = { address: "127.0.0.1:0", isLoopback: true, isTls: false, names: [] };
  const placed = view.place({ ...anonymousNode, id }, peer);
  if (!("refused" in placed)) return placed;
  throw new QueryError(404, `node ${JSON.stringify(id)} would be refused: ${placed.refused}`);
}

function describeResource(
  view: AdminView,
  describe: Describer,
  { layer, resource, withBody }: { layer: string; resource: Resource; withBody: boolean },
): ResourceAnswer {
  const { type, version, bytes, aliases, ttlMs, references, error, variant } = resource;
  const { name, onDemand } = variant ?? resource;
  if (error !== undefined)
    return { ...describe.type(type), name, version, layer, bytes: 0, references: [], error: describeError(error) };
  return {
    ...describe.type(type),
    name,
    ...(variant !== undefined && { constraints: describeConstraints(variant.constraints) }),
    version,
    layer,
    bytes: bytes.byteLength,
    ...(aliases.length > 0 && { aliases }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(onDemand && { onDemand }),
    references: references.map((reference) => ({ type: reference.type, name: reference.name })),
    ...(withBody && bodyOf(view, resource)),
  };
}

function bodyOf(view: AdminView, { type, bytes }: Resource): { body: unknown } | { problem: string } {
  if (!view.types.knows(type)) return { problem: "nothing is known of this type, and what it holds may be secret" };
  try {
    return { body: view.types.toJson(type, bytes, { redact: true }) };
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : "cannot be shown" };
  }
}
