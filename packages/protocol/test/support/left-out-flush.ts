import type { ServerMachine, StreamId } from "@xdskit/protocol/internal";

/**
 * Makes the flush that a machine left out after the request of a stream that reads, if no other stream is due. Throws if
 * it has an effect.
 */
export function flushIfLeftOut(machine: ServerMachine, stream: StreamId): void {
  if (machine.isDue) return;
  // Queues a stream that is not due.
  machine.on({ kind: "stream-drained", stream });
  const effects = machine.next(1);
  if (effects.length > 0) throw new Error(`a flush that was left out has effects: ${effects.length}`);
}
