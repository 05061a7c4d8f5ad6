import type { EnvoyApi } from "@xdskit/envoy-api";
import type { Resource } from "@xdskit/protocol";
import type { NodesAnswer, ResourceAnswer, ResourcesAnswer } from "@xdskit/server";
import { type LoadedState, problemCounts } from "@xdskit/source";
import { resourceValue } from "../../discovery/resource-value.ts";
import { CommandError, exitCode } from "../../exit-code.ts";
import type { Io } from "../../io.ts";
import { plural } from "../../output/problems.ts";
import { askAdmin } from "../admin-request.ts";
import type { AdminFlags } from "../admin-server.ts";
import { loadSource } from "../load-source.ts";
import type { DiffItem } from "./compare.ts";
import { isRevision, readRevisionSide } from "./revision-side.ts";

/** One side of a comparison. */
export interface DiffSide {
  /** All resources, by layer. */
  readonly items: readonly DiffItem[];
  /** The layers of the node whose view `items` is, top-most first; undefined: `items` is of all layers. */
  readonly nodeLayers: readonly string[] | undefined;
}

const NODE = "node:";

/**
 * Reads a side: `node:ID`, a number of the ledger, `head`, `held`, the URL of an admin API, or a directory or module;
 * undefined is the server of `--admin`.
 */
export async function readSide(given: string | undefined, flags: AdminFlags, io: Io): Promise<DiffSide> {
  if (given?.startsWith(NODE) === true) return readNode(given.slice(NODE.length), flags, io);
  if (given === undefined) return readServer(flags, io);
  if (isRevision(given)) {
    const readInForce = async (): Promise<readonly DiffItem[]> => (await readServer(flags, io)).items;
    return { items: await readRevisionSide(given, { flags, io, readInForce }), nodeLayers: undefined };
  }
  if (/^(https?:\/\/|unix:)/.test(given)) return readServer({ ...flags, admin: given }, io);
  return readSource(given, io);
}

/** The items of a side as a node with these layers sees them: of each name, the one in the highest layer. */
export function viewThrough(items: readonly DiffItem[], layers: readonly string[]): readonly DiffItem[] {
  const seen = new Map<string, DiffItem>();
  for (const layer of layers)
    for (const item of items) {
      const key = JSON.stringify([item.type, item.name]);
      if (item.layer === layer && !seen.has(key)) seen.set(key, { ...item, layer: "" });
    }
  return [...seen.values()];
}

async function readServer(flags: AdminFlags, io: Io): Promise<DiffSide> {
  return { items: await readResources({}, flags, io), nodeLayers: undefined };
}

/** The resources that the admin API lists: all of them, or those that a node sees. */
async function readResources(of: { readonly node?: string }, flags: AdminFlags, io: Io): Promise<readonly DiffItem[]> {
  const query = { ...of, body: "true", "field-names": "proto" };
  const { items } = await askAdmin<ResourcesAnswer>("/api/v1/resources", query, flags, io);
  return withoutConversions(items).map(itemOf);
}

const OF_V2 = "-v2";

/** Without resources of v2 that a server has beside their originals, for clients of v2. */
function withoutConversions(items: readonly ResourceAnswer[]): readonly ResourceAnswer[] {
  const keyOf = ({ layer, name }: ResourceAnswer, shortName = ""): string => JSON.stringify([layer, shortName, name]);
  const given = new Set(items.map((item) => keyOf(item, item.shortName)));
  return items.filter((item) => {
    const { shortName = "" } = item;
    return !shortName.endsWith(OF_V2) || !given.has(keyOf(item, shortName.slice(0, -OF_V2.length)));
  });
}

async function readNode(id: string, flags: AdminFlags, io: Io): Promise<DiffSide> {
  const items = await readResources({ node: id }, flags, io);
  const { items: nodes } = await askAdmin<NodesAnswer>("/api/v1/nodes", { id }, flags, io);
  const nodeLayers = nodes.find((node) => node.id === id)?.layers ?? [];
  return { items: items.map((item) => ({ ...item, layer: "" })), nodeLayers };
}

function itemOf({ layer, type, name, constraints, version, body, error, problem }: ResourceAnswer): DiffItem {
  const value = body ?? error ?? problem;
  return { layer, type, name: constraints === undefined ? name : `${name} (${constraints})`, version, value };
}

async function readSource(given: string, io: Io): Promise<DiffSide> {
  const { state, problems, api, place } = await loadSource(given, {}, io);
  if (state !== undefined) return { items: itemsOf(state, api), nodeLayers: undefined };
  const errors = plural(problemCounts(problems).errors, "error");
  throw new CommandError(exitCode.sourceBroken, `${place.shown} has ${errors}`, `xds validate ${given} lists them`);
}

function itemsOf({ layers }: LoadedState, api: EnvoyApi): readonly DiffItem[] {
  return [...layers].flatMap(([layer, resources]) => resources.map((resource) => sourceItem(layer, resource, api)));
}

function sourceItem(layer: string, resource: Resource, api: EnvoyApi): DiffItem {
  const { type, name, version, error } = resource;
  const value = error ?? resourceValue(resource, { api, showsSecrets: false });
  return { layer, type, name, version, value };
}
