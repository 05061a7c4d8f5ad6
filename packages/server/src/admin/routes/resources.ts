import { anonymousNode, type Node, type Peer, type Resource, type TypeUrl } from "@xdskit/protocol";
import { describeConstraints, globMatches, type LayerState } from "@xdskit/protocol/internal";
import type { NodeView } from "../../hub/hub-view.ts";
import type { ResourceAnswer } from "../answers/resources.ts";
import { type Describer, describeError } from "../describe.ts";
import { type Query, QueryError } from "../query.ts";
import { page, pageKinds, pageParameters, type Route, type Step } from "../route.ts";
import { resourcesAnswer } from "../schema/resources.ts";
import type { AdminView } from "../view.ts";

export const FIELD_NAMES = ["json", "proto"] as const;
export type FieldNames = (typeof FIELD_NAMES)[number];

/** The resources of the layers. Secrets are redacted. */
export const resources: Route = {
  path: "/api/v1/resources",
  says: "resources; ?body=true includes their content, with secrets redacted",
  parameters: {
    type: "a short name (cds), a message name or a type URL",
    layer: "only this layer",
    node: "only resources that this node sees: of each name, the one in its highest layer",
    cluster: "cluster of a node that is not connected",
    metadata: "metadata of a node that is not connected: key=value; may be repeated",
    locality: "locality of a node that is not connected: region/zone/sub-zone",
    name: "only this name; may be repeated",
    matches: "only names that match this glob",
    body: "true: include the resource as JSON",
    "field-names": "field names in it: json (connectTimeout; the default) or proto (connect_timeout)",
    ...pageParameters,
  },
  kinds: { metadata: "texts", name: "texts", body: "flag", "field-names": FIELD_NAMES, ...pageKinds },
  answers: { 200: resourcesAnswer },
  answer: ({ view, describe }, query) => page(query, findResources(view, describe, query)),
};

function* findResources(view: AdminView, describe: Describer, query: Query): Iterable<Step> {
  const names = query.texts("name");
  const pattern = query.text("matches");
  const withBody = query.flag("body");
  const fieldNames = query.oneOf("field-names", FIELD_NAMES) ?? "json";
  for (const { layer, types, sees } of chosenLayers(view, query)) {
    for (const [type, seen] of types) {
      for (const resource of view.resources([layer], type)) {
        const name = resource.variant?.name ?? resource.name;
        if (!sees(layer, type, name)) {
          yield undefined;
          continue;
        }
        const isShadowed = (seen?.get(name) ?? layer) !== layer;
        if (!isShadowed) seen?.set(name, layer);
        const isNamed = (names?.has(name) ?? true) && (pattern === undefined || globMatches(pattern, name));
        const isWanted = !isShadowed && isNamed;
        yield isWanted
          ? () => describeResource(view, describe, { layer, resource, body: withBody ? fieldNames : undefined })
          : undefined;
      }
    }
  }
}

interface ChosenLayer {
  readonly layer: string;
  /** For a node, each type with the layer of each name seen so far. */
  readonly types: ReadonlyMap<TypeUrl, Map<string, string> | undefined>;
  readonly sees: NodeView["sees"];
}

/** The layers to list, with their types. */
function chosenLayers(view: AdminView, query: Query): readonly ChosenLayer[] {
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
  const nodeView = node === undefined ? undefined : viewOfNode(view, node, query);
  const names = nodeView?.layers ?? (layer !== undefined ? [layer] : [...byName.keys()]);
  const only = chosenType(view, query);
  const seen = new Map<TypeUrl, Map<string, string>>();
  return names.map((name) => ({
    layer: name,
    types: new Map(
      typesOf(byName.get(name), only).map((type) => [type, node === undefined ? undefined : seenOf(seen, type)]),
    ),
    sees: nodeView?.sees ?? (() => true),
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

/** What a connected node sees, by what it sent; any other node is mapped by the parameters, as if it connected from here. */
function viewOfNode(view: AdminView, id: string, query: Query): NodeView {
  const described = describedNode(id, query);
  const claims = described === undefined ? connectedAs(view, id) : { node: described, peer: loopbackPeer };
  if (claims === undefined) {
    const hint =
      "describe it by cluster, metadata and locality (one of them may be empty), as it would describe itself";
    throw new QueryError(404, `node ${JSON.stringify(id)} is not connected`, hint);
  }
  const found = view.nodeView(claims.node, claims.peer);
  if (!("refused" in found)) return found;
  throw new QueryError(404, `node ${JSON.stringify(id)} would be refused: ${found.refused}`);
}

const loopbackPeer: Peer = { address: "127.0.0.1:0", isLoopback: true, isTls: false, names: [] };

/** The newest identification of a node. */
function connectedAs(view: AdminView, id: string): { readonly node: Node; readonly peer: Peer } | undefined {
  let newest: { readonly node: Node; readonly peer: Peer } | undefined;
  for (const { node, peer } of view.placedStreams()) if (node.id === id) newest = { node, peer };
  return newest;
}

/** The node that the parameters describe; undefined without any of them. */
function describedNode(id: string, query: Query): Node | undefined {
  const cluster = query.text("cluster");
  const pairs = query.texts("metadata");
  const place = query.text("locality");
  if (cluster === undefined && pairs === undefined && place === undefined) return undefined;
  const [region = "", zone = "", subZone = ""] = (place ?? "").split("/");
  return {
    ...anonymousNode,
    id,
    cluster: cluster ?? "",
    metadata: Object.fromEntries([...(pairs ?? [])].filter((pair) => pair !== "").map(readPair)),
    ...(region !== "" && { locality: { region, zone, subZone } }),
  };
}

function readPair(pair: string): readonly [string, string] {
  const equals = pair.indexOf("=");
  if (equals < 1) throw new QueryError(400, `metadata: expected key=value, got ${JSON.stringify(pair)}`);
  return [pair.slice(0, equals), pair.slice(equals + 1)];
}

function describeResource(
  view: AdminView,
  describe: Describer,
  { layer, resource, body }: { layer: string; resource: Resource; body: FieldNames | undefined },
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
    ...(body !== undefined && bodyOf(view, resource, body)),
  };
}

/** The redacted body of a resource, or why it cannot be shown. */
export function bodyOf(
  view: AdminView,
  { type, bytes }: Resource,
  names: FieldNames,
): { body: unknown } | { problem: string } {
  if (!view.types.knows(type)) return { problem: "nothing is known of this type, and what it holds may be secret" };
  try {
    return { body: view.types.toJson(type, bytes, { redact: true, names }) };
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : "cannot be shown" };
  }
}
