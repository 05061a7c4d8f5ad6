import { formatResourceName, parseResourceName } from "@xdskit/protocol";
import { canonicalName, type ResourceName } from "@xdskit/protocol/internal";
import type { AuthoritySource, ClientConfig, SourceConfig } from "./client-config.ts";

/** A name and the source to request it from. */
export interface NameAtSource {
  readonly source: SourceConfig;
  readonly name: string;
}

/**
 * The source of a name: `peer`, the source of the referring resource, if it serves the name's authority, then those of
 * the bootstrap in order, then the default; undefined: none (C-XTP-08). A name that is no xdstp name has no authority
 * and uses `peer` or the default.
 */
export function authorityFor(name: string, config: ClientConfig, peer?: AuthoritySource): SourceConfig | undefined {
  const authority = parseResourceName(name)?.authority;
  if (authority === undefined) return peer?.source ?? config.defaultSource;
  const candidates = peer === undefined ? config.authorities : [peer, ...config.authorities];
  const found = candidates.find((candidate) => isFor(candidate, authority));
  return found?.source ?? (isOfGrpc(config) ? undefined : config.defaultSource);
}

/**
 * The sources of a name, best first: its own, then those of its `alt=` directives (C-XTP-11). Empty if there is none.
 */
export function sourcesOf(name: string, config: ClientConfig, peer?: AuthoritySource): readonly NameAtSource[] {
  return [name, ...alternativesOf(name)].flatMap((each) => {
    const source = authorityFor(each, config, peer);
    return source === undefined ? [] : [{ source, name: requestedName(each, config) }];
  });
}

/**
 * The name as requested: an xdstp name without directives (C-XTP-03) and with the node's context parameters, which its
 * own override (C-XTP-12). Any other name is unchanged.
 */
export function requestedName(name: string, { nodeContextParams }: Pick<ClientConfig, "nodeContextParams">): string {
  const parsed = parseResourceName(name);
  if (parsed === undefined) return canonicalName(name);
  const contextParams = new Map([...nodeContextParams, ...parsed.contextParams]);
  return formatResourceName({ ...parsed, contextParams });
}

/** The names in the `alt=` directives of a name, in order (C-XTP-11). */
export function alternativesOf(name: string): readonly string[] {
  const hash = parseResourceName(name) === undefined ? -1 : name.indexOf("#");
  if (hash === -1) return [];
  return name
    .slice(hash + 1)
    .split(",")
    .filter((directive) => directive.startsWith("alt="))
    .flatMap((directive) => decoded(directive.slice("alt=".length)));
}

/**
 * The Listener that a gRPC client requests for `xds:///target` or `xds://authority/target` (A47). Undefined if the
 * bootstrap does not have the authority.
 */
export function listenerNameFor(target: string, authority: string, config: ClientConfig): string | undefined {
  const entry = config.authorities.find(({ authorities }) =>
    authority === "" ? authorities.length === 0 : authorities.includes(authority),
  );
  if (entry === undefined) return authority === "" ? target : undefined;
  return fillTemplate(entry.listenerTemplate ?? "%s", target);
}

/**
 * The Listener for `xds:///target`, `xds://authority/target` or a plain target of a gRPC client; for other clients the
 * name itself.
 */
export function listenerOfTarget(name: string, config: ClientConfig): string | undefined {
  if (!isOfGrpc(config) || parseResourceName(name) !== undefined) return name;
  const [, authority = "", target = name] = /^xds:\/\/([^/?#]*)\/(.*)$/s.exec(name) ?? [];
  return listenerNameFor(target, authority, config);
}

/** Percent-encodes a target in an xdstp template (A47); elsewhere it is unchanged. */
function fillTemplate(template: string, target: string): string {
  const isXdstp = template.startsWith("xdstp:");
  return template.replaceAll("%s", () => (isXdstp ? encodeTarget(target) : target));
}

/** Keeps characters that a path may contain, slashes included, but encodes those that end it. */
function encodeTarget(target: string): string {
  const name: ResourceName = {
    authority: "",
    type: "t",
    id: target.replaceAll(/\p{Surrogate}/gu, "\uFFFD").split("/"),
    isGlob: false,
    contextParams: new Map(),
  };
  return formatResourceName(name).slice("xdstp:///t/".length);
}

function isFor({ authorities, listenerTemplate }: AuthoritySource, authority: string): boolean {
  if (authorities.includes(authority)) return true;
  return authorities.length === 0 && authority === "" && listenerTemplate === undefined;
}

/** Only gRPC bootstraps have listener templates; they have no default for unknown authorities (A47). */
export function isOfGrpc({ authorities }: Pick<ClientConfig, "authorities">): boolean {
  return authorities.some(({ listenerTemplate }) => listenerTemplate !== undefined);
}

/** Empty for malformed percent-encoding. */
function decoded(text: string): readonly string[] {
  try {
    return [decodeURIComponent(text)].filter((name) => parseResourceName(name) !== undefined);
  } catch {
    return [];
  }
}
