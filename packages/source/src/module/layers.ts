import { quote } from "@xdskit/protocol/internal";
import { isMapping } from "../document/places.ts";
import { baseLayer } from "../layout.ts";

/** The resources of a module by layer, or why its export is invalid. */
export type ModuleLayers =
  | { readonly layers: ReadonlyMap<string, readonly unknown[]> }
  | { readonly message: string; readonly hint: string };

const EXPECTED =
  'expected a list of resources, or { layers: { base: [...], "group/NAME": [...] } }, as the default export';

/** Reads a module's default export; a list is the layer `base`. */
export function layersIn(value: unknown): ModuleLayers {
  if (Array.isArray(value)) return { layers: new Map([[baseLayer, value as readonly unknown[]]]) };
  const hint = "a resource is an object with @type, and lists are lists of them";
  const given = isMapping(value) ? value["layers"] : undefined;
  if (!isMapping(value) || !isMapping(given)) return { message: `${EXPECTED}, got ${describe(value)}`, hint };
  const others = Object.keys(value).filter((key) => key !== "layers");
  if (others.length > 0) return { message: `expected nothing beside layers, got ${quote(others[0] ?? "")}`, hint };
  const layers = new Map<string, readonly unknown[]>();
  for (const [layer, resources] of Object.entries(given)) {
    if (!/^(?:base|(?:group|node)\/.+)$/s.test(layer)) {
      const message = `expected a layer base, group/NAME or node/ID, got ${quote(layer)}`;
      return { message, hint: "base is what every node sees; groups are named in xdskit.yaml beside the module" };
    }
    if (!Array.isArray(resources)) {
      return { message: `expected a list of resources as the layer ${quote(layer)}, got ${describe(resources)}`, hint };
    }
    layers.set(layer, resources as readonly unknown[]);
  }
  return { layers };
}

function describe(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value !== "object") return `a ${typeof value}`;
  const keys = Object.keys(value).slice(0, 4).map(quote).join(", ");
  return keys === "" ? "an empty object" : `an object with ${keys}`;
}
