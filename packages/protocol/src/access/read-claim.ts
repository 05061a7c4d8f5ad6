import { anonymousNode, type Node } from "../node/node.ts";
import type { Peer } from "../node/node-mapping.ts";
import type { AccessClaim } from "./access-policy.ts";
import { entryPoints } from "./access-rules.ts";
import { parseAddressRange } from "./address-range.ts";

/** A claim as people write it. */
export interface ClaimTexts {
  /** @default "ads" */
  readonly entryPoint?: string | undefined;
  /**
   * What the caller has: `uri:spiffe://prod/sa/edge`, `dns:NAME` and `cn:NAME` of its certificate, `address:10.0.0.1`,
   * `loopback`, `tls`. `ip:` and `email:` of a certificate are no identities: only roles go by them. None: plaintext from
   * somewhere else.
   */
  readonly identities: readonly string[];
  /** Undefined: it speaks for no node, or sends none. */
  readonly node?: string | undefined;
  readonly cluster?: string | undefined;
  /** The role that the settings of the admin API give to these identities. */
  readonly role?: AccessClaim["role"];
  /** When the certificate expires, which decides nothing. */
  readonly validTo: Date;
}

/** Entry points where callers speak for no node. */
const WITHOUT_NODE = ["csds", "health", "reflection", "metrics", "admin", "admin-change"];

/** Names of a certificate that no access rule knows. */
const NO_IDENTITY = /^(?:ip|email):./;

/** Reads a claim, or says what is wrong with it. */
export function readClaim({
  entryPoint = "ads",
  identities,
  node,
  cluster,
  role,
  validTo,
}: ClaimTexts): AccessClaim | { readonly problem: string } {
  const known = entryPoints.find((one) => one === entryPoint);
  if (known === undefined) return { problem: `entry: expected ${entryPoints.join(", ")}, got "${entryPoint}"` };
  const peer = readPeer(identities, validTo);
  if ("problem" in peer) return peer;
  const isSilent = node === undefined && cluster === undefined && WITHOUT_NODE.includes(known);
  const claimed: Node = { ...anonymousNode, id: node ?? "", cluster: cluster ?? "" };
  return { entryPoint: known, role, peer, node: isSilent ? undefined : claimed };
}

function readPeer(identities: readonly string[], validTo: Date): Peer | { readonly problem: string } {
  const names: Record<"uri" | "dns" | "cn", string[]> = { uri: [], dns: [], cn: [] };
  let address = "unknown:0";
  for (const text of identities) {
    const [, kind, value = ""] = /^(uri|dns|cn|address):(.+)$/s.exec(text) ?? [];
    if (kind === "uri" || kind === "dns" || kind === "cn") names[kind].push(value);
    else if (kind === "address" && parseAddressRange(value) !== undefined && !value.includes("/"))
      address = value.includes(":") ? `[${value}]:0` : `${value}:0`;
    else if (text === "loopback") address = "127.0.0.1:0";
    else if (text !== "tls" && text !== "certificate" && !NO_IDENTITY.test(text)) {
      if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text))
        return {
          problem: `identity: expected uri:URI, dns:NAME, cn:NAME, address:IP, certificate, tls or loopback, got "${text}"`,
        };
      names.uri.push(text);
    }
  }
  const all = [...names.uri, ...names.dns, ...names.cn];
  const isCertified = all.length > 0 || identities.some((text) => text === "certificate" || NO_IDENTITY.test(text));
  const [commonName] = names.cn;
  return {
    address,
    isLoopback: address.startsWith("127.") || address === "[::1]:0",
    isTls: isCertified || identities.includes("tls"),
    names: all,
    ...(isCertified && {
      certificate: { commonName, uris: names.uri, dnsNames: names.dns, validTo },
    }),
  };
}
