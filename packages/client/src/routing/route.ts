import { messageNameOf, parseResourceName, type TypeUrl } from "@xdskit/protocol";
import { isOfV2, type TypeKind, type TypeTraits, typeInName } from "@xdskit/protocol/internal";
import { authorityFor, type NameAtSource, sourcesOf } from "../config/authority.ts";
import type { ClientConfig, RootSource, SourceConfig } from "../config/client-config.ts";
import { XdsClientError } from "../error.ts";

/**
 * The source of a name: for xdstp names that of their authority, or the one for all other authorities (C-XTP-08); for
 * other names that of their kind, or the aggregated stream. Undefined: none.
 */
export function sourceOf(config: ClientConfig, kind: TypeKind, name: string): SourceConfig | undefined {
  const root = rootOf(config, kind);
  // The collection of a root is requested at the root's source, whatever its authority.
  if (root !== undefined && name === root.locator) return root.source;
  if (typeInName(name) !== undefined) return authorityFor(name, config);
  if (root !== undefined) return root.source;
  const layer = kind === "rtds" ? config.runtimeLayers.find((one) => one.name === name) : undefined;
  if (layer !== undefined) return layer.source;
  return config.ads ?? unnamed(config) ?? config.defaultSource ?? (config.clusters ?? config.listeners)?.source;
}

/** The places of a name, best first: its own, then those of its alternatives (C-XTP-11). */
export function placesOf(config: ClientConfig, kind: TypeKind, name: string): readonly NameAtSource[] {
  if (typeInName(name) !== undefined && name !== rootOf(config, kind)?.locator) return sourcesOf(name, config);
  const source = sourceOf(config, kind, name);
  return source === undefined ? [] : [{ source, name }];
}

/** The wildcard of a kind; a root may have a collection in its place (C-XTP-12). */
export function everythingOf(config: ClientConfig, kind: TypeKind): string {
  return rootOf(config, kind)?.locator ?? "*";
}

/** The error for a type or name without a source. */
export function noSource(config: ClientConfig, type: TypeUrl, name: string | undefined): XdsClientError {
  const what = messageNameOf(type);
  const authority = authorityIn(name);
  if (authority === undefined)
    return unsupported(`the configuration does not say where resources of ${what} come from`);
  const known = config.authorities.flatMap(({ authorities }) => authorities).map((one) => JSON.stringify(one));
  const hint = known.length === 0 ? "" : `, but of ${known.join(", ")}`;
  return unsupported(`the configuration knows nothing of the authority ${JSON.stringify(authority)}${hint}: ${name}`);
}

/** The type in the API version of a source; a type without a twin there stays itself. */
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

/** The authority of an xdstp name or of a gRPC target. */
function authorityIn(name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  return parseResourceName(name)?.authority ?? /^xds:\/\/([^/?#]+)\//.exec(name)?.[1];
}

function unsupported(message: string): XdsClientError {
  return new XdsClientError("TYPE_UNSUPPORTED", message);
}
