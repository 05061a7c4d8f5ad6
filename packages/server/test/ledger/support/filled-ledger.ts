import type { LedgerStore } from "../../../src/ledger/store.ts";
import { compact } from "./publishing.ts";
import { cluster, openReplica, secret } from "./replica.ts";

/** Publishes `first` to `first + 5`, with a compaction in between; 3 is a Secret, whose content is not kept. */
export async function fill(store: LedgerStore, first = 1): Promise<void> {
  const { publisher, publish } = await openReplica(store);
  const texts = ["one", "two", "three", "four", "five", "six"].map((text, index) => `${text} ${first + index}`);
  for (const [index, text] of texts.entries()) {
    await publish(cluster("a", text), ...(index >= 2 ? [secret("key", "a private key")] : []));
    if (index === 3) await compact(store);
  }
  await publisher.close();
}
