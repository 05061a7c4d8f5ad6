import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { globMatches } from "@xdskit/protocol/internal";
import { hasNameKind, nameKinds } from "../certificate-name.ts";
import { describePeer, parseAlternativeNames } from "../transport/peer.ts";

/** What a caller of the admin API may do: a viewer reads, an operator changes too. */
export type AdminRole = "viewer" | "operator";

/** Who calls the admin API. */
export type AdminCaller =
  /** Over the local socket, whose file mode says who may. */
  | { readonly kind: "socket" }
  | { readonly kind: "plaintext"; readonly isLoopback: boolean }
  /** With the names of a verified client certificate, by kind: `uri:spiffe://prod/ops`. */
  | { readonly kind: "tls"; readonly names: readonly string[] };

/** Who has which role. */
export interface AdminRules {
  /** Globs of certificate names by kind. */
  readonly viewers: readonly string[];
  readonly operators: readonly string[];
  /** Everybody is a viewer over plaintext. */
  readonly insecure: boolean;
}

/** How the admin API is reached, and by whom with which role. */
export interface AdminEntry {
  /** Callers show certificates. */
  readonly hasTls: boolean;
  readonly rules: AdminRules;
}

/**
 * The role of a caller at the port that is given by identities, as `xds access explain` takes them; undefined: none.
 */
export function roleOfIdentities(identities: readonly string[], { hasTls, rules }: AdminEntry): AdminRole | undefined {
  if (hasTls) {
    const names = identities.map((text) => (hasNameKind(text) || !text.includes("://") ? text : `uri:${text}`));
    return roleOf({ kind: "tls", names }, rules);
  }
  const isLoopback = identities.some((text) => text === "loopback" || /^address:(?:127\.|::1$)/.test(text));
  return roleOf({ kind: "plaintext", isLoopback }, rules);
}

/** The role of a caller; undefined: it gets health and metrics only. */
export function roleOf(caller: AdminCaller, { viewers, operators, insecure }: AdminRules): AdminRole | undefined {
  switch (caller.kind) {
    case "socket":
      return "operator";
    case "plaintext":
      if (caller.isLoopback) return "operator";
      return insecure ? "viewer" : undefined;
    case "tls": {
      const matches = (patterns: readonly string[]): boolean =>
        patterns.some((pattern) => caller.names.some((name) => globMatches(pattern, name)));
      if (matches(operators)) return "operator";
      return matches(viewers) ? "viewer" : undefined;
    }
  }
}

/** The caller in a line of the log, and as the author of what it changes. */
export function describeCaller(caller: AdminCaller): string {
  switch (caller.kind) {
    case "socket":
      return "local socket";
    case "plaintext":
      return caller.isLoopback ? "loopback" : "plaintext";
    case "tls":
      return caller.names.length === 0 ? "no certificate" : caller.names.join(",");
  }
}

/** Describes the caller at a TCP port. */
export function callerOf(socket: Socket): AdminCaller {
  if (socket instanceof TLSSocket) return { kind: "tls", names: certifiedNames(socket) };
  return { kind: "plaintext", isLoopback: describePeer(socket).isLoopback };
}

function certifiedNames(socket: TLSSocket): readonly string[] {
  if (!socket.authorized) return [];
  const certificate = socket.getPeerCertificate();
  // Without a client certificate there is an empty object, whatever the types say.
  const commonName: string | readonly string[] | undefined = certificate.subject?.CN;
  return [...namesByKind(certificate.subjectaltname ?? ""), ...[commonName ?? []].flat().map((name) => `cn:${name}`)];
}

/** Reads Node's text of the alternative names: `DNS:a.example, URI:spiffe://b/c`. */
export function namesByKind(text: string): readonly string[] {
  return parseAlternativeNames(text).flatMap(({ kind: printed, name }) => {
    const kind = [...nameKinds].find(([, word]) => word === printed)?.[0];
    return kind === undefined ? [] : [`${kind}:${name}`];
  });
}
