/** Resolves when whatever else waits for the event loop has had its turn. */
export async function nextTurn(): Promise<void> {
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
}
