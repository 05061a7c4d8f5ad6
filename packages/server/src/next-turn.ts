/** Resolves after other pending work of the event loop has run. */
export async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
