import {
  isOfV2,
  messageNameOf,
  parseResourceName,
  type TypeKind,
  type TypeTraits,
  type TypeUrl,
  typeInName,
} from "@xdskit/protocol";
import { authorityFor, type NameAtSource, sourcesOf } from "../config/authority.ts";
import type { ClientConfig, RootSource, SourceConfig } from "../config/client-config.ts";
import { XdsClientError } from "../error.ts";

/**
 * Where a name is asked for: xdstp names at the source of their authority, or at the one for all others (C-XTP-08); other names where the
 * configuration has everything of their kind come from, or, of kinds that have no place of their own there, from the aggregated stream. Undefined:
 * nowhere.
 */
export function sourceOf(config: ClientConfig, kind: TypeKind, name: string): SourceConfig | undefined {
  const root = rootOf(config, kind);
  // A collection of everything is asked for where everything comes from, whatever its authority.
  if (root !== undefined && name === root.locator) return root.source;
  if (typeInName(name) !== undefined) return authorityFor(name, config);
  if (root !== undefined) return root.source;
  const layer = kind === "rtds" ? config.runtimeLayers.find((one) => one.name === name) : undefined;
  if (layer !== undefined) return layer.source;
  return config.ads ?? unnamed(config) ?? config.defaultSource ?? (config.clusters ?? config.listeners)?.source;
}

/** The places of a name, the best first: its own, and those of the alternatives that it names (C-XTP-11). */
export function placesOf(config: ClientConfig, kind: TypeKind, name: string): readonly NameAtSource[] {
  if (typeInName(name) !== undefined && name !== rootOf(config, kind)?.locator) return sourcesOf(name, config);
  const source = sourceOf(config, kind, name);
  return source === undefined ? [] : [{ source, name }];
}

/** What everything of a kind is asked for by: a root may have a collection in its place (C-XTP-12). */
export function everythingOf(config: ClientConfig, kind: TypeKind): string {
  return rootOf(config, kind)?.locator ?? "*";
}

/** That there is nowhere to ask. */
export function noSource(config: ClientConfig, type: TypeUrl, name: string | undefined): XdsClientError {
  const what = messageNameOf(type);
  const authority = authorityIn(name);
  if (authority === undefined)
    return unsupported(`the configuration does not say where resources of ${what} come from`);
  const known = config.authorities.flatMap(({ authorities }) => authorities).map((one) => JSON.stringify(one));
  const hint = known.length === 0 ? "" : `, but of ${known.join(", ")}`;
  return unsupported(`the configuration knows nothing of the authority ${JSON.stringify(authority)}${hint}: ${name}`);
}

/** A type in the version of the API that a source speaks of; one without a twin there is its own. */
export function typeAt(source: SourceConfig, type: TypeUrl, traits: TypeTraits | undefined): TypeUrl {
  const isRight = isOfV2(type) === (source.resourceApiVersion === "v2");
  return isRight ? type : (traits?.twin ?? type);
}

function rootOf({ listeners, clusters }: ClientConfig, kind: TypeKind): RootSource | undefined {
  if (kind === "lds") return listeners;
  return kind === "cds" ? clusters : undefined;
}

/** The source of names without an authority. */
function unnamed({ authorities }: ClientConfig): SourceConfig | undefined {
  return authorities.find((one) => one.authorities.length === 0)?.source;
}

/** That of an xdstp name, or of the target of a gRPC client. */
function authorityIn(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  return parseResourceName(name)?.authority ?? /^xds:\/\/([^/?#]+)\//.exec(name)?.[1];
}

function unsupported(message: string): XdsClientError {
  return new XdsClientError("TYPE_UNSUPPORTED", message);
}
