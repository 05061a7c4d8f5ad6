import type { SwitchField } from "@xdskit/protocol/internal";
import type { Point } from "./further.ts";

/** A row on which editions of the protocol page disagree (requirements 4). */
export interface EditionRow extends Point {
  /** The switches that select a reading on a server. */
  readonly switches: readonly SwitchField[];
}

/** Every such row. Rows without a switch have one reading here, or concern the client. */
export const editionRows: readonly EditionRow[] = [
  row("E1", "leaving a wildcard", ["wildcardSticky"]),
  row("E2", "an empty list after names"),
  row("E3", "which types have a wildcard", ["wildcardTypes"]),
  row("E4", "what does not exist, in delta", ["deltaMissing"]),
  row(
    "E5",
    "what a resource without a body means",
    [],
    "a server sends one for one thing at a time; the client tells them apart",
  ),
  row("E6", "what a NACK is known by", ["nackByVersion"]),
  row("E7", "the version in a NACK"),
  row("E8", "versions over streams", ["resumeVersion"]),
  row("E9", "what is not sent again after a reconnect", ["resumeSkip"]),
  row("E10", "names as hints", ["ignoreHints"]),
  row("E11", "a nonce in every request"),
  row("E12", "stale nonces in delta"),
  row("E13", "requests that only give names up, in delta"),
  row("E14", "what proves that something does not exist", [], "the client waits, and gives up"),
  row("E15", "warming of a changed cluster", ["resendEdsOnClusterChange"]),
  row("E16", "when children are removed", ["deltaRemovals"]),
  row("E17", "the order of updates", ["makeBeforeBreak"]),
  row("E18", "not sending the same again and again"),
  row("E19", "the methods of delta in 2018", ["incremental2018"]),
  row("E20", "versions that a client brings"),
  row("E21", "aliases and groups of resources"),
  row("E22", "the node in the first request only", ["nodeChange"]),
  row("E23", "ttls and heartbeats", ["ttlDelta", "ttlSotw", "ttlAggregatedSotw", "ttlWithoutFeature"]),
  row("E24", "two spellings of a client's feature", ["ttlSotw", "ttlAggregatedSotw"]),
  row("E25", "lists of types"),
  row("E26", "two spellings of the service of scoped routes", ["docAliases"]),
  row("E27", "two forms of the bootstrap file", [], "the client reads it"),
  row("E28", "naming everything in each request"),
  row("E29", "one resource in each response, in delta", ["deltaOnePerResponse"]),
  row("E30", "slips of a translation", [], "no rules follow from them"),
  row("E31", "which version of the API is meant by AUTO", [], "the client chooses"),
  row("E32", "which changes of a file count", [], "the client watches it"),
  row("E33", "checks of what is served"),
  row("E34", "when clusters are acknowledged", ["nackMayBeOfOlder", "withheldAckLimitMs"]),
];

function row(id: string, says: string, switches: readonly SwitchField[] = [], elsewhere?: string): EditionRow {
  return { id, says, switches, ...(elsewhere === undefined ? {} : { elsewhere }) };
}
