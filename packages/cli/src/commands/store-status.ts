import { replicasOf } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { openStore } from "../settings/ledger-store.ts";
import type { CommandContext } from "./context.ts";
import { formatReplicas } from "./replicas-table.ts";

/** Which servers follow a store. */
export async function storeStatus(url: string, output: "text" | "json", context: CommandContext): Promise<ExitCode> {
  const { io, colorsOf } = context;
  const onProblem = (text: string): void => io.stderr.write(`xds: ${text}\n`);
  const store = await openStore(url, { cwd: io.cwd, env: io.env, onProblem, isReadOnly: true });
  try {
    const replicas = await replicasOf(store);
    if (output === "json") io.stdout.write(formatJson(replicas));
    else {
      const colors = colorsOf(io.stdout);
      const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
      io.stdout.write(
        `${colors.bold("store".padEnd(9))} ${replicas.head === 0 ? "empty" : `newest record ${replicas.head}`}\n`,
      );
      io.stdout.write(`\n${formatReplicas(replicas, { colors, width, now: io.now() })}`);
    }
    return exitCode.ok;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(exitCode.unreachable, `the store cannot be asked: ${reason}`);
  } finally {
    await store.close();
  }
}
