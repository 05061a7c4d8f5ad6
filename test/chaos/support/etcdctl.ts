import { execFile } from "node:child_process";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { EtcdMember } from "../../../packages/store-etcd/test/support/etcd.ts";
import { peerCommand } from "../../e2e/support/peers.ts";
import { until } from "../../e2e/support/wait.ts";

/** Runs etcdctl against a member, without holding up the clients of this process, and resolves with what it prints. */
export async function etcdctl({ endpoint }: EtcdMember, ...args: readonly string[]): Promise<string> {
  const [program = ""] = peerCommand("etcd") ?? [];
  const { stdout } = await promisify(execFile)(join(dirname(program), "etcdctl"), [
    ...["--endpoints", `http://${endpoint}`, "--command-timeout", "500ms"],
    ...args,
  ]);
  return stdout;
}

/** What one member found of its quota holds for all, until somebody says that it is over. */
export async function endAlarm(etcd: EtcdMember): Promise<void> {
  await until({ says: "the alarm is off", withinMs: 30_000, everyMs: 200 }, async () => {
    await etcdctl(etcd, "alarm", "disarm");
    return (await etcdctl(etcd, "alarm", "list")).trim() === "";
  });
}
