import { hostOf } from "../node/host.ts";
import type { Peer } from "../node/node-mapping.ts";
import { type AddressRange, isInRange, parseAddressRange } from "./address-range.ts";
import { type Bindings, bindSegments, capturesIn, type Pattern, parsePattern } from "./pattern.ts";

/** One entry of `identities` of a rule. */
export type IdentityPattern =
  | { readonly kind: "anyone" | "loopback" | "certificate" }
  | { readonly kind: "address"; readonly range: AddressRange }
  | { readonly kind: "uri" | "dns"; readonly segments: readonly Pattern[] };

const expected =
  'expected a URI such as "spiffe://prod/sa/{service}", "dns:NAME", "certificate", "address:CIDR", "loopback" or "anyone"';

/** Parses an entry of `identities`. */
export function parseIdentity(text: string): IdentityPattern | { readonly problem: string } {
  if (text === "anyone" || text === "loopback" || text === "certificate") return { kind: text };
  if (text.startsWith("address:")) {
    const range = parseAddressRange(text.slice("address:".length));
    return range === undefined
      ? { problem: "expected an address or a range such as 10.0.0.0/8" }
      : { kind: "address", range };
  }
  const kind = text.startsWith("dns:") ? "dns" : "uri";
  if (kind === "uri" && (!/^[a-z][a-z0-9+.-]*:/i.test(text) || /^(?:uri|cn|email|ip):/i.test(text)))
    return { problem: expected };
  const segments: Pattern[] = [];
  for (const segment of kind === "dns" ? labelsOf(text.slice("dns:".length)) : text.split("/")) {
    const pattern = parsePattern(segment);
    if (pattern === undefined) return { problem: "expected {NAME} for each capture" };
    if (pattern.filter((part) => part.kind !== "text").length > 1)
      return { problem: `expected at most one "*" or capture in "${segment}"` };
    if (kind === "dns" && segments.length > 0 && pattern.some((part) => part.kind === "any"))
      return { problem: 'expected "*" only in the leftmost label of a DNS name' };
    segments.push(pattern);
  }
  return { kind, segments };
}

/** The captures that a match binds. */
export function capturesOf(identity: IdentityPattern): readonly string[] {
  return "segments" in identity ? identity.segments.flatMap(capturesIn) : [];
}

/** Whether whoever meets the pattern has a verified certificate, or is on the loopback interface by the rule's own words. */
export function isVerified({ kind }: IdentityPattern): boolean {
  return kind === "uri" || kind === "dns" || kind === "certificate" || kind === "loopback";
}

const nothingBound: readonly Bindings[] = [new Map()];

/** The ways in which a peer matches; empty if it does not. */
export function bindingsOf(identity: IdentityPattern, peer: Peer): readonly Bindings[] {
  switch (identity.kind) {
    case "anyone":
      return nothingBound;
    case "loopback":
      return peer.isLoopback ? nothingBound : [];
    case "certificate":
      return peer.certificate === undefined ? [] : nothingBound;
    case "address":
      return isInRange(hostOf(peer.address), identity.range) ? nothingBound : [];
    case "uri":
      return (peer.certificate?.uris ?? []).flatMap((uri) => bindSegments(identity.segments, uri.split("/")) ?? []);
    case "dns":
      return (peer.certificate?.dnsNames ?? []).flatMap((name) =>
        // A wildcard certificate speaks for no name in particular.
        name.includes("*") ? [] : (bindSegments(identity.segments, labelsOf(name)) ?? []),
      );
    default:
      return identity satisfies never;
  }
}

/** DNS names have no case; captures keep theirs in patterns, so labels are lowered outside braces only. */
function labelsOf(name: string): readonly string[] {
  return name.replace(/\{[^}]*\}|[^{]+/g, (part) => (part.startsWith("{") ? part : part.toLowerCase())).split(".");
}
