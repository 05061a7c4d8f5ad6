import type { Node } from "@xdskit/protocol";
import { OBSERVER_USER_AGENT } from "@xdskit/protocol/internal";
import { VERSION } from "../version.ts";
import type { ConnectionFlags } from "./connection-flags.ts";

const DEFAULT_NODE = "xds-cli";

/** The node that the flags describe. */
export function nodeOf({ node, cluster, metadata = {}, locality = {} }: ConnectionFlags): Partial<Node> {
  const { region = "", zone = "", sub_zone: subZone = "" } = locality;
  return {
    ...{
      id: node ?? DEFAULT_NODE,
      cluster: cluster ?? "",
      userAgentName: OBSERVER_USER_AGENT,
      userAgentVersion: VERSION,
    },
    ...(Object.keys(metadata).length > 0 && { metadata }),
    ...(region !== "" && { locality: { region, zone, subZone } }),
  };
}
