import type { TypeAnswer } from "@xdskit/server";

/** Why a client is not told how long it may keep resources that have a ttl, in the operator's words. */
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
