import type { TypeAnswer } from "@xdskit/server";

/** Why a resource's TTL is not sent to a client. */
export function describeTtl(ttl: TypeAnswer["ttl"]): readonly string[] {
  switch (ttl) {
    case "not-announced":
      return ["ttl left off: the client does not announce it"];
    case "unsafe":
      return ["ttl left off: expiry would harm this client"];
    case "v2":
      return ["ttl left off: v2 has none"];
    default:
      return [];
  }
}
