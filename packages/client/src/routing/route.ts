import { isOfV2, type TypeKind, type TypeTraits, type TypeUrl, typeInName } from "@xdskit/protocol";
import type { ClientConfig, SourceConfig } from "../config/client-config.ts";

/**
 * Where a name is asked for: xdstp names at the source of their authority, or at the one for all others (C-XTP-08); other names where the
 * configuration has everything of their kind come from, or, of kinds that have no place of their own there, from the aggregated stream. Undefined:
 * nowhere.
 */
export function sourceOf(config: ClientConfig, kind: TypeKind, term: string | undefined): SourceConfig | undefined {
  if (term !== undefined && typeInName(term) !== undefined) return sourceOfAuthority(config, authorityOf(term));
  if (kind === "lds" && config.listeners !== undefined) return config.listeners.source;
  if (kind === "cds" && config.clusters !== undefined) return config.clusters.source;
  return config.ads ?? unnamed(config) ?? config.defaultSource ?? (config.clusters ?? config.listeners)?.source;
}

/** A type in the version of the API that a source speaks of; one without a twin there is its own. */
export function typeAt(source: SourceConfig, type: TypeUrl, traits: TypeTraits | undefined): TypeUrl {
  const isRight = isOfV2(type) === (source.resourceApiVersion === "v2");
  return isRight ? type : (traits?.twin ?? type);
}

function sourceOfAuthority(config: ClientConfig, authority: string): SourceConfig | undefined {
  const named = config.authorities.find(({ authorities }) => authorities.includes(authority));
  if (named !== undefined) return named.source;
  return (authority === "" ? unnamed(config) : undefined) ?? config.defaultSource;
}

/** The source of names without an authority. */
function unnamed({ authorities }: ClientConfig): SourceConfig | undefined {
  return authorities.find((one) => one.authorities.length === 0)?.source;
}

function authorityOf(name: string): string {
  return decodeURIComponent(/^xdstp:\/\/([^/?#]*)/.exec(name)?.[1] ?? "");
}
