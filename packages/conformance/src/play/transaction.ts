import type { NodeMapping, Transaction } from "@xdskit/protocol";
import type { NodeLayers } from "../case.ts";
import { urlOf } from "../content/catalog.ts";
import { toResource } from "../content/content.ts";
import type { Commit } from "./driver.ts";

/** Converts a case's publication to a transaction of the server. */
export function transactionOf({ changes, systemVersion }: Commit): Transaction {
  return {
    changes: changes.map((change) => ({
      layer: change.layer,
      puts: change.puts.map(toResource),
      deletes: change.deletes.map(({ type, name, constraints }) => ({
        type: urlOf(type),
        name,
        ...(constraints !== undefined && { constraints }),
      })),
      typeVersions: new Map([...change.typeVersions].map(([type, version]) => [urlOf(type), version])),
      canaries: new Map([...change.canaries].map(([type, isCanary]) => [urlOf(type), isCanary])),
    })),
    ...(systemVersion === undefined ? {} : { systemVersion }),
  };
}

/** The node mapping of a case: nodes that are not listed see `base`. */
export function nodeMappingOf(nodeMapping: NodeLayers): NodeMapping {
  return (node) => nodeMapping[node.id] ?? ["base"];
}
