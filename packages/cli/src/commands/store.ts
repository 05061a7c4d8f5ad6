import type { DecisionAnswer } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { changeByAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";

/** Has a server put in force what its store has. */
export async function adoptStore(flags: AdminFlags, { io }: CommandContext): Promise<ExitCode> {
  const { result, number, reason } = await changeByAdmin<DecisionAnswer>("/api/v1/store/adopt", {}, flags, io);
  if (result !== "applied") throw new CommandError(exitCode.problems, reason ?? result);
  io.stdout.write(`what the store has is in force, up to record ${number}\n`);
  return exitCode.ok;
}
