import type { EnvoyApi, InitialFetch } from "@xdskit/envoy-api";
import { spellText } from "@xdskit/envoy-api/internal";
import { messageNameOf, type Reference, type Resource, type TypeUrl } from "@xdskit/protocol";
import {
  canonicalName,
  globOf,
  isOfV2,
  quote,
  shownName,
  type TypeKind,
  typeKindTable,
  WILDCARD,
} from "@xdskit/protocol/internal";
import { originOf } from "./assemble.ts";
import type { DecodedResource } from "./decoded-resource.ts";
import type { Identity } from "./document/envelope.ts";
import type { FileChunk } from "./file-chunks.ts";
import type { CrossProblem, LayerFile } from "./file-content.ts";
import { onDemandFolder } from "./layout.ts";

/**
 * Warns of dangling references and unreferenced resources; only warnings, because a client may have the other part in
 * its own bootstrap.
 *
 * A reference is satisfied by any layer that a node may see together with its own, that is, all but layers of other
 * nodes, and by a resource with an error, which is already reported. Unreferenced resources are reported only if all
 * files could be read and there is a resource of a kind that could refer to them, so that a directory of endpoints
 * alone has no warnings.
 */
export function checkReferences(chunks: readonly FileChunk[], api: EnvoyApi): readonly CrossProblem[] {
  const files = chunks.flatMap((chunk) => chunk.files);
  const survey = new Survey(api);
  for (const file of files) {
    for (const decoded of file.content.resources) survey.add(file, decoded);
    for (const refused of file.content.refused) survey.addRefused(refused);
  }
  const problems: CrossProblem[] = [];
  for (const file of files) {
    for (const decoded of file.content.resources) {
      const { references } = decoded.resource;
      for (const [index, { type, name }] of references.entries()) {
        if (survey.isHeld(type, name, file.layer)) continue;
        const isSaid = references.findIndex((other) => other.type === type && other.name === name) < index;
        if (!isSaid) problems.push(survey.describe(file, decoded, { type, name }));
      }
      // A resource error is for clients that request the name, whatever refers to it.
      if (decoded.resource.error !== undefined) continue;
      if (survey.isUnused(decoded.resource.type, plainNameOf(decoded.resource))) problems.push(unused(file, decoded));
    }
  }
  return problems;
}

/** The names of a type, in both API versions, because a resource of either serves both. */
interface NamesOfType {
  /** In layers that any node may see. */
  readonly shared: Set<string>;
  /** In the layers of single nodes. */
  readonly ofNodes: Set<string>;
  readonly referredTo: Set<string>;
}

/** A type in one API version. */
interface SurveyedType {
  readonly kind: TypeKind | undefined;
  /** The v3 twin, if there is one. */
  readonly inV3: TypeUrl;
  readonly names: NamesOfType;
  isPresent: boolean;
  /** Whether there is a resource of a kind that could refer to it; known once all resources are. */
  hasUsers: boolean | undefined;
}

class Survey {
  readonly #api: EnvoyApi;
  readonly #types = new Map<TypeUrl, SurveyedType>();
  readonly #present = new Set<TypeKind>();
  /** Names in the layers of single nodes. */
  readonly #ofNode = new Map<string, Map<NamesOfType, Set<string>>>();
  /** Names of invalid resources by type, as far as known. */
  readonly #refused = new Map<TypeUrl | undefined, Set<string | undefined>>();

  constructor(api: EnvoyApi) {
    this.#api = api;
  }

  add({ layer }: LayerFile, { resource }: DecodedResource): void {
    const of = this.#typeOf(resource.type);
    if (!of.isPresent && of.kind !== undefined) this.#present.add(of.kind);
    of.isPresent = true;
    const name = plainNameOf(resource);
    this.#addName(layer, of, name);
    const collection = this.#collectionOf(resource, name);
    if (collection !== undefined) this.#addName(layer, of, collection);
    if (!(resource.variant ?? resource).onDemand) this.#addName(layer, of, WILDCARD);
    for (const reference of resource.references) this.#typeOf(reference.type).names.referredTo.add(reference.name);
  }

  #addName(layer: string, { names }: SurveyedType, name: string): void {
    if (!layer.startsWith("node/")) {
      names.shared.add(name);
      return;
    }
    const own = this.#ofNode.get(layer) ?? new Map<NamesOfType, Set<string>>();
    this.#ofNode.set(layer, own);
    own.set(names, (own.get(names) ?? new Set()).add(name));
    names.ofNodes.add(name);
  }

  addRefused({ type, name }: Identity): void {
    // An unknown type may be any known one, misspelt.
    const known = type !== undefined && this.#api.knows(type) ? this.#typeOf(type).inV3 : undefined;
    const names = this.#refused.get(known) ?? new Set();
    this.#refused.set(known, names.add(name));
  }

  isHeld(asked: TypeUrl, name: string, from: string): boolean {
    const { names, inV3 } = this.#typeOf(asked);
    if (names.shared.has(name)) return true;
    const ofNodes = from.startsWith("node/") ? this.#ofNode.get(from)?.get(names) : names.ofNodes;
    if (ofNodes?.has(name) === true) return true;
    return [this.#refused.get(inV3), this.#refused.get(undefined)].some((it) => it?.has(name) || it?.has(undefined));
  }

  isUnused(type: TypeUrl, name: string): boolean {
    if (this.#refused.size > 0) return false;
    const of = this.#typeOf(type);
    const users = of.kind === undefined ? [] : typeKindTable[of.kind].usedBy;
    of.hasUsers ??= users.some((user) => this.#present.has(user));
    return of.hasUsers && !of.names.referredTo.has(name);
  }

  /** The warning for a dangling reference. */
  describe(file: LayerFile, decoded: DecodedResource, wanted: Reference): CrossProblem {
    const { type, bytes } = decoded.resource;
    const { kind, inV3 } = this.#typeOf(wanted.type);
    if (kind === "srds" && wanted.name === WILDCARD) return scopeless(file, decoded);
    if (kind !== undefined && !typeKindTable[kind].isAwaited) return dangling(file, decoded, wanted, undefined);
    const fetches = this.#api.initialFetches(type, bytes);
    const fetch = fetches.find((one) => one.type === inV3 && canonicalName(one.name) === wanted.name);
    return kind === "vhds" ? baseless(file, decoded, wanted, fetch) : dangling(file, decoded, wanted, fetch);
  }

  /** The collection by which a resource is referred to besides its name. */
  #collectionOf(resource: Resource, name: string): string | undefined {
    const { onDemand } = resource.variant ?? resource;
    return globOf(name) ?? (onDemand ? undefined : this.#api.traits(resource.type)?.terms?.collectionOf(name));
  }

  #typeOf(type: TypeUrl): SurveyedType {
    const known = this.#types.get(type);
    if (known !== undefined) return known;
    const traits = this.#api.traits(type);
    const inV3 = isOfV2(type) ? (traits?.twin ?? type) : type;
    const names = inV3 === type ? newNames() : this.#typeOf(inV3).names;
    const of = { kind: traits?.kind, inV3, names, isPresent: false, hasUsers: undefined };
    this.#types.set(type, of);
    return of;
  }
}

function newNames(): NamesOfType {
  return { shared: new Set(), ofNodes: new Set(), referredTo: new Set() };
}

function plainNameOf({ name, variant }: Resource): string {
  return variant?.name ?? name;
}

function dangling(
  file: LayerFile,
  { resource, place }: DecodedResource,
  { type, name }: Reference,
  fetch: InitialFetch | undefined,
): CrossProblem {
  const wanted = shortNameOf(type);
  const needs = `${shortNameOf(resource.type)} ${quote(shownName(resource.name))} needs ${wanted} ${quote(name)}`;
  return {
    code: "REFERENCE_DANGLING",
    severity: "warning",
    message: `${needs}, which is not defined${fetch === undefined ? "" : `: a client that starts ${waitsFor("it", fetch)}`}`,
    hint: `add it or correct the name, unless the client has this ${wanted} from elsewhere`,
    at: { file, place, text: name },
  };
}

/** For a listener that has all its routes by scopes. */
function scopeless(file: LayerFile, { resource, place, isJsonSpelled = false }: DecodedResource): CrossProblem {
  return {
    code: "REFERENCE_DANGLING",
    severity: "warning",
    message: `${shortNameOf(resource.type)} ${quote(shownName(resource.name))} needs scopes, and no ScopedRouteConfiguration is defined`,
    hint: "add one, unless the client has them from elsewhere",
    at: { file, place, text: isJsonSpelled ? "scopedRds" : "scoped_rds" },
  };
}

/**
 * For an on-demand route configuration, Envoy waits for its timeout after an empty first response (client-behaviours
 * H3).
 */
function baseless(
  file: LayerFile,
  { resource, place, isJsonSpelled = false }: DecodedResource,
  { name }: Reference,
  fetch: InitialFetch | undefined,
): CrossProblem {
  const timeout = spellText("`vhds.config_source.initial_fetch_timeout`", isJsonSpelled);
  const whose = `${shortNameOf(resource.type)} ${quote(shownName(resource.name))}`;
  const waits = fetch === undefined ? "" : `: an Envoy that starts ${waitsFor("one", fetch)}`;
  return {
    code: "ROUTE_BASE_HOSTS_MISSING",
    severity: "warning",
    message: `${whose} has its virtual hosts from VHDS, and none whose name begins with ${quote(name)} is sent at first${waits}`,
    hint: `put one outside of a folder ${onDemandFolder}, or set ${timeout} to 0.001s`,
    at: { file, place, text: name.slice(0, -1) },
  };
}

function waitsFor(what: string, { timeoutMs }: InitialFetch): string {
  return timeoutMs === 0 ? `waits for ${what} for ever` : `waits ${timeoutMs / 1000}s for ${what}`;
}

function unused(file: LayerFile, decoded: DecodedResource): CrossProblem {
  const { type, name } = decoded.resource;
  return {
    code: "RESOURCE_UNUSED",
    severity: "warning",
    message: `nothing refers to ${shortNameOf(type)} ${quote(shownName(name))}`,
    hint: "correct the name, remove it, or refer to it; a client's own bootstrap may do that too",
    at: originOf(file, decoded),
  };
}

function shortNameOf(type: TypeUrl): string {
  const name = messageNameOf(type);
  return name.slice(name.lastIndexOf(".") + 1);
}
