import { createWriteStream } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import {
  type DecisionAnswer,
  exportLedger,
  type ImportResult,
  importLedger,
  type LedgerProgress,
  type LedgerStore,
} from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { plural } from "../output/problems.ts";
import { withStatusLine } from "../output/status-line.ts";
import { writeOutputFile } from "../output-file.ts";
import { openStore } from "../settings/ledger-store.ts";
import { systemErrorReason } from "../system-error.ts";
import { changeByAdmin } from "./admin-request.ts";
import type { AdminFlags } from "./admin-server.ts";
import type { CommandContext } from "./context.ts";

/** What stands for standard input and standard output. */
const STANDARD = "-";

/** Permissions of an export. */
const OWNER_ONLY = 0o600;

export interface StoreFlags extends AdminFlags {
  readonly store?: string;
  readonly replace?: true;
}

export async function store(
  what: "adopt" | "export" | "import",
  file: string | undefined,
  flags: StoreFlags,
  context: CommandContext,
): Promise<ExitCode> {
  if (what === "export") return await exportStore(file ?? STANDARD, flags, context);
  if (what === "adopt") return await adoptStore(flags, context);
  return await importStore(file ?? STANDARD, flags, context);
}

/** Has a server put in force what its store has. */
async function adoptStore(flags: StoreFlags, { io }: CommandContext): Promise<ExitCode> {
  const { result, number, reason } = await changeByAdmin<DecisionAnswer>("/api/v1/store/adopt", {}, flags, io);
  if (result !== "applied") throw new CommandError(exitCode.problems, reason ?? result);
  io.stdout.write(`what the store has is in force, up to record ${number}\n`);
  return exitCode.ok;
}

async function exportStore(file: string, flags: StoreFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  if (file === STANDARD && io.stdout.isTerminal)
    throw new CommandError(exitCode.usage, "expected a file to write to", "xds store export FILE, or pipe it");
  return await withStore(flags, context, true, async (open) => {
    const ledger = await open();
    if (ledger.head.number === 0) throw new CommandError(exitCode.problems, "the store is empty");
    const { head, records, bodies, absent } = await withStatusLine(io, (update) => {
      const onProgress = (progress: LedgerProgress): void => update(() => describeProgress("exporting", progress));
      if (file !== STANDARD)
        return at(file, "written", () =>
          writeOutputFile(resolve(io.cwd, file), OWNER_ONLY, (write) => exportLedger(ledger, write, onProgress)),
        );
      const write = async (bytes: Uint8Array): Promise<void> => {
        io.stdout.write(Buffer.from(bytes).toString("utf8"));
        await io.drained();
      };
      return exportLedger(ledger, write, onProgress);
    });
    if (absent > 0)
      io.stderr.write(`xds: the store does not have ${countBodies(absent)} that records name: they are left out\n`);
    const said = `exported up to record ${head.number}: ${plural(records, "record")}, ${countBodies(bodies)}\n`;
    (file === STANDARD ? io.stderr : io.stdout).write(said);
    return exitCode.ok;
  });
}

async function importStore(file: string, flags: StoreFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  return await withStore(flags, context, false, async (open) => {
    const result = await withStatusLine(io, (update) => {
      const onProgress = (progress: LedgerProgress): void => update(() => describeProgress("checking", progress));
      const options = { isReplacing: flags.replace === true, onProgress };
      return file === STANDARD
        ? withSpooled(io.input(), (path) => at("standard input", "read", () => importLedger(open, path, options)))
        : at(file, "read", () => importLedger(open, resolve(io.cwd, file), options));
    });
    if (result.kind !== "imported") throw refusal(result);
    const { head, records, bodies } = result;
    io.stdout.write(`imported up to record ${head.number}: ${plural(records, "record")}, ${countBodies(bodies)}\n`);
    return exitCode.ok;
  });
}

function refusal(result: Exclude<ImportResult, { readonly kind: "imported" }>): CommandError {
  if (result.kind === "unavailable") return new CommandError(exitCode.unreachable, result.reason);
  const has = `the store has ${plural(result.head.number, "record")}, and is left as it is`;
  if (result.kind === "not-empty") return new CommandError(exitCode.problems, has, "--replace lets go of them");
  return new CommandError(exitCode.problems, "another process wrote to the store meanwhile: nothing was imported");
}

/** Names the file in what goes wrong with it. */
async function at<T>(file: string, done: "read" | "written", work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof CommandError || !(cause instanceof Error)) throw cause;
    const { code, syscall, path } = cause as NodeJS.ErrnoException;
    if (code === undefined || syscall === undefined || path === undefined) {
      if (done === "written") throw cause;
      throw new Error(`${file}: ${cause.message}`, { cause });
    }
    throw new Error(`${file} cannot be ${done}: ${systemErrorReason(cause)}`, { cause });
  }
}

/** Lets `work` open the store, closes it, and tells what goes wrong with it as the command's own failure. */
async function withStore(
  flags: StoreFlags,
  { io }: CommandContext,
  isReadOnly: boolean,
  work: (open: () => Promise<LedgerStore>) => Promise<ExitCode>,
): Promise<ExitCode> {
  const url = flags.store ?? io.env["XDS_STORE"];
  if (url === undefined) throw new CommandError(exitCode.usage, "expected a store", "give --store");
  const onProblem = (text: string): void => io.stderr.write(`xds: ${text}\n`);
  let opened: LedgerStore | undefined;
  const open = async (): Promise<LedgerStore> => {
    opened = await openStore(url, { cwd: io.cwd, env: io.env, onProblem, isReadOnly });
    return opened;
  };
  try {
    return await work(open);
  } catch (cause) {
    if (cause instanceof CommandError || !(cause instanceof Error)) throw cause;
    if (opened?.outage !== undefined) throw new CommandError(exitCode.unreachable, cause.message);
    throw new CommandError(exitCode.problems, cause.message);
  } finally {
    await opened?.close();
  }
}

function countBodies(count: number): string {
  return count === 1 ? "1 body" : `${count} bodies`;
}

function describeProgress(what: string, { number, head }: LedgerProgress): string {
  return `${what}: record ${number} of ${head}`;
}

/** What is read twice has to be a file. */
async function withSpooled<T>(input: AsyncIterable<Uint8Array>, work: (path: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "xds-import-"));
  try {
    const path = join(directory, "ledger");
    await pipeline(input, createWriteStream(path, { mode: 0o600 }));
    return await work(path);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
