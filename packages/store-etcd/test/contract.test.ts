import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LedgerStore } from "@xdskit/server";
import { openEtcdStore } from "@xdskit/store-etcd";
import { afterAll, beforeAll } from "vitest";
import { describeWith } from "../../../test/e2e/support/peers.ts";
import { describeLedgerStore } from "../../server/test/ledger/support/describe-ledger-store.ts";
import { EtcdMember } from "./support/etcd.ts";

let member: EtcdMember;
let ledgers = 0;

describeWith("etcd", "a ledger in etcd", () => {
  beforeAll(async () => {
    member = await EtcdMember.start();
    writeFileSync(join(member.directory, "key"), randomBytes(32).toString("hex"));
  });
  afterAll(() => member.end());

  for (const isEncrypted of [false, true]) {
    describeLedgerStore(`openEtcdStore${isEncrypted ? " with a key file" : ""}`, async () => {
      const prefix = `ledger-${++ledgers}`;
      const keyFile = isEncrypted ? { keyFile: join(member.directory, "key") } : {};
      let current: LedgerStore;
      const reopen = async (): Promise<LedgerStore> => {
        current = await openEtcdStore({ endpoints: [member.endpoint], prefix, ...keyFile });
        return current;
      };
      return { store: await reopen(), reopen, end: () => current.close() };
    });
  }
});
