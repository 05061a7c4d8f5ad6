import { canonicalName, formatResourceName, parseResourceName, type ResourceName } from "@xdskit/protocol";
import type { AuthoritySource, ClientConfig, SourceConfig } from "./client-config.ts";

/** A name to ask a source for. */
export interface NameAtSource {
  readonly source: SourceConfig;
  readonly name: string;
}

/**
 * Where a name is asked for: the source of whoever names it if that is for its authority, then those of the bootstrap in
 * order, then the default; undefined if there is none (C-XTP-08). A name that is no xdstp name has no authority: it is asked for
 * where it was said to be, or at the default.
 */
export function authorityFor(name: string, config: ClientConfig, peer?: AuthoritySource): SourceConfig | undefined {
  const authority = parseResourceName(name)?.authority;
  if (authority === undefined) return peer?.source ?? config.defaultSource;
  const candidates = peer === undefined ? config.authorities : [peer, ...config.authorities];
  const found = candidates.find((candidate) => isFor(candidate, authority));
  return found?.source ?? (isOfGrpc(config) ? undefined : config.defaultSource);
}

/**
 * The sources of a name, the best first: its own, then those of the alternatives that its `alt=` directives name (C-XTP-11).
 * Empty if there is none.
 */
export function sourcesOf(name: string, config: ClientConfig, peer?: AuthoritySource): readonly NameAtSource[] {
  return [name, ...alternativesOf(name)].flatMap((each) => {
    const source = authorityFor(each, config, peer);
    return source === undefined ? [] : [{ source, name: requestedName(each, config) }];
  });
}

/**
 * A name as it goes out: an xdstp name without directives (C-XTP-03), and with the node's parameters, of which its own are
 * the stronger (C-XTP-12). Any other name is its own.
 */
export function requestedName(name: string, { nodeContextParams }: Pick<ClientConfig, "nodeContextParams">): string {
  const parsed = parseResourceName(name);
  if (parsed === undefined) return canonicalName(name);
  const contextParams = new Map([...nodeContextParams, ...parsed.contextParams]);
  return formatResourceName({ ...parsed, contextParams });
}

/** The names that the `alt=` directives of a name give, in order (C-XTP-11). */
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
 * The name of the Listener that a gRPC client asks for: `xds:///target` or `xds://authority/target` (A47). Undefined if the
 * authority is none of the bootstrap's.
 */
export function listenerNameFor(target: string, authority: string, config: ClientConfig): string | undefined {
  const entry = config.authorities.find(({ authorities }) =>
    authority === "" ? authorities.length === 0 : authorities.includes(authority),
  );
  if (entry === undefined) return authority === "" ? target : undefined;
  return fillTemplate(entry.listenerTemplate ?? "%s", target);
}

/** The Listener of a program that says `xds:///target`, `xds://authority/target` or the target alone to a gRPC client; of others its name. */
export function listenerOfTarget(name: string, config: ClientConfig): string | undefined {
  if (!isOfGrpc(config) || parseResourceName(name) !== undefined) return name;
  const [, authority = "", target = name] = /^xds:\/\/([^/?#]*)\/(.*)$/s.exec(name) ?? [];
  return listenerNameFor(target, authority, config);
}

/** In an xdstp name a target is encoded where it has to be (A47); elsewhere it stands as it is. */
function fillTemplate(template: string, target: string): string {
  const isXdstp = template.startsWith("xdstp:");
  return template.replaceAll("%s", () => (isXdstp ? encodeTarget(target) : target));
}

/** What a path may hold as it is stays, but for the characters that end it; slashes are part of the path. */
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

/** A gRPC bootstrap has no default for authorities that it does not name (A47); only such a one has templates. */
export function isOfGrpc({ authorities }: Pick<ClientConfig, "authorities">): boolean {
  return authorities.some(({ listenerTemplate }) => listenerTemplate !== undefined);
}

/** Nothing of what is encoded wrongly. */
function decoded(text: string): readonly string[] {
  try {
    return [decodeURIComponent(text)].filter((name) => parseResourceName(name) !== undefined);
  } catch {
    return [];
  }
}
