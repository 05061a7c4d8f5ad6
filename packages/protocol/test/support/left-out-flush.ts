import type { ServerMachine, StreamId } from "@xdskit/protocol/internal";

/** Makes the flush that a machine left out after the request of a stream that reads. Throws if it has an effect. */
export function flushIfLeftOut(machine: ServerMachine, stream: StreamId): void {
  const due = machine.changedStreams;
  // Queues a stream that is not due, and no other.
  machine.on({ kind: "stream-drained", stream });
  if (machine.changedStreams === due) return;
  const effects = machine.flushAhead(stream) ?? [];
  if (effects.length > 0) throw new Error(`a flush that was left out has effects: ${effects.length}`);
}
