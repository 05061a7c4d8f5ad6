/**
 * Appends the name of its lease to a ledger for as long as the store takes that, and gets the next lease then. It does not
 * look at whether the lease is lost: so is a process that was stopped just after it had looked.
 */
import { setTimeout as pause } from "node:timers/promises";
import { openEtcdStore } from "@xdskit/store-etcd";

const [endpoint = "", prefix = ""] = process.argv.slice(2);
const store = await openEtcdStore({ endpoints: [endpoint], prefix });
for (;;) {
  const lease = await store.lease?.("source").acquire(new AbortController().signal);
  process.stdout.write(`holds ${lease?.token}\n`);
  for (let isHeld = true; isHeld; ) {
    const { kind } = await store.append(store.head, { records: [lease?.token ?? ""], bodies: new Map(), lease });
    isHeld = kind !== "lease-lost";
    if (kind === "conflict") await store.refresh?.();
    await pause(20);
  }
  process.stdout.write("lost it\n");
}
