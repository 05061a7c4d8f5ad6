import type { EnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl, type TypeUrl } from "@xdskit/protocol";
import type { KeptResource } from "@xdskit/protocol/internal";

const SECRETS: readonly TypeUrl[] = [
  formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret"),
  formatTypeUrl("envoy.api.v2.auth.Secret"),
];

/**
 * Returns a test for resources that must not be written to disk: Secrets, and other resources with a key or a password.
 */
export function createSecretFilter(api: EnvoyApi): (resource: KeptResource) => boolean {
  // Unchanged resources are tested again at every write.
  const known = new WeakMap<Uint8Array, boolean>();
  return ({ type, bodyType, bytes }) => {
    if (SECRETS.includes(type)) return true;
    const before = known.get(bytes);
    if (before !== undefined) return before;
    const isSecret = api.holdsSecret(bodyType ?? type, bytes);
    known.set(bytes, isSecret);
    return isSecret;
  };
}
