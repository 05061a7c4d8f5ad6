/** How long anything may take before a test gives up on it: on a machine that has much else to do, too. */
export const WITHIN_MS = 15_000;

/** Waits until a condition holds, looking every few milliseconds. */
export async function until(what: string, condition: () => boolean): Promise<void> {
  const giveUpAt = Date.now() + WITHIN_MS;
  while (!condition()) {
    if (Date.now() > giveUpAt) throw new Error(`waited ${WITHIN_MS} ms until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
