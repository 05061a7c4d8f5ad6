import { type MeshResource, type MeshSnapshot, STATIC_SOURCE } from "@xdskit/client";
import type { EnvoyApi } from "@xdskit/envoy-api";
import { shortNameOf } from "../../discovery/mesh-words.ts";
import type { Colors } from "../../output/color.ts";
import { oneLine } from "../../output/one-line.ts";
import { plural } from "../../output/problems.ts";
import { endpointsOf } from "./findings.ts";

type Link = MeshResource["needs"][number];

/** One resource in the tree, with the resources that it refers to. */
export interface TreeNode {
  readonly type: string;
  readonly name: string;
  readonly state: string;
  readonly needs: readonly TreeNode[];
}

interface TreeContext {
  readonly snapshot: MeshSnapshot;
  readonly api: EnvoyApi;
  /** The bootstrap has an `ads_config`. */
  readonly hasAds: boolean;
  /** Ids of resources whose references are already in the tree. */
  readonly told: Set<string>;
}

/** Children of one resource that are printed; the rest is counted. */
const MAX_BRANCHES = 50;

/**
 * Builds the trees of all Listeners, then of the Clusters that no Listener refers to. Omits static Clusters without
 * references, such as management servers.
 */
export function treesOf(snapshot: MeshSnapshot, parts: Pick<TreeContext, "api" | "hasAds">): readonly TreeNode[] {
  const context: TreeContext = { snapshot, ...parts, told: new Set() };
  const ofListeners = [...snapshot.listeners.values()].map((one) => treeOf(one, context));
  const others = [...snapshot.clusters.values()].filter(
    ({ id, source, needs }) => !context.told.has(id) && (source !== STATIC_SOURCE || needs.length > 0),
  );
  return [...ofListeners, ...others.map((one) => treeOf(one, context))];
}

function treeOf(resource: MeshResource, context: TreeContext): TreeNode {
  const { type, name, id, needs } = resource;
  const { api, told } = context;
  const isRepeated = told.has(id);
  told.add(id);
  const state = stateOf(resource, context);
  return {
    type: shortNameOf(type, api),
    name,
    state: isRepeated && needs.length > 0 ? `${state}, see above` : state,
    needs: isRepeated ? [] : uniqueNeeds(needs).map((link) => linkTree(link, resource, context)),
  };
}

/** Removes repeated references to the same name. */
function uniqueNeeds(needs: readonly Link[]): readonly Link[] {
  return [...new Map(needs.map((link) => [`${link.type} ${link.name}`, link])).values()];
}

function linkTree(link: Link, from: MeshResource, context: TreeContext): TreeNode {
  const { snapshot, api, hasAds } = context;
  const { type, name, state } = link;
  const target =
    state === "by-name"
      ? snapshot.clusters.get(name)
      : link.node === undefined
        ? undefined
        : snapshot.all.get(link.node);
  if (target !== undefined) return treeOf(target, context);
  const why = state === "unresolved" && !hasAds && namesAds(from) ? WITHOUT_ADS : "";
  return { type: shortNameOf(type, api), name, state: `${linkWords[state]}${why}`, needs: [] };
}

const WITHOUT_ADS = ": the resource says `ads: {}`, and the bootstrap has no ads_config";

/** Whether a resource names the aggregated stream as the source of another one. */
function namesAds({ resource, warming }: MeshResource): boolean {
  return JSON.stringify((warming ?? resource)?.json ?? null).includes('"ads":{}');
}

const linkWords: Readonly<Record<Link["state"], string>> = {
  there: "ready",
  fallback: "missing, its default is used",
  missing: "missing",
  idle: "on demand",
  "by-name": "missing",
  unresolved: "its source cannot be used",
};

function stateOf({ state, id, name, source }: MeshResource, { snapshot }: TreeContext): string {
  const cluster = snapshot.clusters.get(name);
  const endpoints = cluster?.id === id ? endpointsOf(cluster) : undefined;
  const words = {
    requested: "no answer",
    warming: "not usable yet",
    ready: "ready",
    absent: "missing",
    error: "error",
  };
  const more = [
    ...(endpoints === undefined ? [] : [plural(endpoints, "endpoint")]),
    ...(source === STATIC_SOURCE ? ["static"] : []),
  ];
  return [words[state], ...more].join(", ");
}

/** Formats trees as indented lines. */
export function formatTrees(trees: readonly TreeNode[], colors: Colors): string {
  return trees.map((tree) => formatTree(tree, 0, colors)).join("");
}

function formatTree({ type, name, state, needs }: TreeNode, depth: number, colors: Colors): string {
  const tone = state.startsWith("ready")
    ? colors.green
    : /demand|default|not usable/.test(state)
      ? colors.yellow
      : colors.red;
  const margin = "  ".repeat(depth);
  const below = needs.slice(0, MAX_BRANCHES).map((one) => formatTree(one, depth + 1, colors));
  const more = needs.length > MAX_BRANCHES ? `${margin}  and ${needs.length - MAX_BRANCHES} more\n` : "";
  return `${margin}${type} ${colors.bold(oneLine(name))}: ${tone(state)}\n${below.join("")}${more}`;
}
