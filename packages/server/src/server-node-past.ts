import type { Hub } from "./hub/hub.ts";
import { NodePastRecorder } from "./ledger/node-past-recorder.ts";
import type { NumbersInForce } from "./ledger/numbers-in-force.ts";
import type { DeliveryTimes } from "./observe/deliveries.ts";
import { printableReason } from "./observe/printable.ts";
import type { ObservedTelemetry } from "./observe/telemetry.ts";
import type { ServerLedger } from "./server-ledger.ts";

/** What tells of the nodes of a server. */
export interface Observed {
  readonly telemetry: ObservedTelemetry;
  readonly deliveries: Pick<DeliveryTimes, "onNacked">;
}

/** Which number of a ledger which revision has. */
export type LedgerNumbers = Pick<NumbersInForce, "stableChangeOf" | "changeOf" | "numberOf" | "revisionOf" | "number">;

/** Records what the nodes of a server have and reject: in memory until `openNodePast`. */
export function createNodePast(
  hub: Hub,
  { telemetry, deliveries }: Observed,
  numbers: (() => LedgerNumbers | undefined) | undefined,
): NodePastRecorder {
  const past = new NodePastRecorder({
    reached: () => hub.deployments.reached(),
    revision: () => hub.revision,
    // Without a ledger the revision is the number.
    numberOf: (revision) => (numbers === undefined ? revision : numbers()?.stableChangeOf(revision)),
    rejectedNumberOf: (revision) => numbers?.()?.changeOf(revision) ?? revision,
    onProblem: (message) => hub.report({ kind: "ledger-problem", message }),
    onRecovered: (message) => hub.report({ kind: "ledger-recovered", message }),
  });
  hub.deployments.onAdvanced(() => past.advanced());
  telemetry.observe("node-connected", () => past.found());
  // A client quotes what it rejects, and that may be a Secret: nothing of it reaches the disk.
  deliveries.onNacked((nacked) => past.nacked({ ...nacked, reason: printableReason(nacked.reason) }));
  return past;
}

/** Goes on in the files beside a ledger on disk; if that cannot be, it is reported, and the past is kept in memory. */
export async function openNodePast(past: NodePastRecorder, { hub, ledger }: NodePastParts): Promise<void> {
  const directory = ledger?.nodePastDirectory;
  if (directory === undefined) return;
  try {
    await past.open({ directory });
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    hub.report({ kind: "ledger-problem", message: `what nodes have cannot be written down: ${why}` });
  }
}

export interface NodePastParts {
  readonly hub: Hub;
  readonly ledger: ServerLedger | undefined;
}
