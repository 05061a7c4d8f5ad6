/** Longest pause between two steps, in milliseconds. */
const MAX_PAUSE_MS = 50;

/** Calls `each` for every item in order, spread evenly over `ms` milliseconds; the first at once. */
export async function spread<T>(items: readonly T[], ms: number, each: (item: T) => void): Promise<void> {
  const startedAt = performance.now();
  for (let done = 0; done < items.length; ) {
    const share = ms === 0 ? 1 : (performance.now() - startedAt) / ms;
    const until = Math.min(items.length, Math.floor(share * items.length) + 1);
    for (const item of items.slice(done, until)) each(item);
    done = until;
    if (done < items.length) await delay(Math.min(MAX_PAUSE_MS, ms / items.length));
  }
}

async function delay(ms: number): Promise<void> {
  await new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
