/**
 * Closes parts: one stage after another, those of a stage together. A part that fails keeps none of the others open.
 * Rejects once all are closed, with the failure, or with an `AggregateError` of several.
 */
export async function closeInStages(stages: readonly (readonly (() => unknown)[])[]): Promise<void> {
  const failures: unknown[] = [];
  for (const stage of stages) {
    for (const closed of await Promise.allSettled(stage.map(async (close) => await close())))
      if (closed.status === "rejected") failures.push(closed.reason);
  }
  if (failures.length > 1) throw new AggregateError(failures, `${failures.length} parts could not be closed`);
  if (failures.length === 1) throw failures[0];
}
