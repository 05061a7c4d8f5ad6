import { readFile } from "node:fs/promises";
import { type AccessAnswer, certificateNames } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import { formatJson } from "../output/json.ts";
import { checkAccess } from "./access/check.ts";
import { explainByFiles } from "./access/explain.ts";
import type { AccessFlags, ExplainAnswer } from "./access/flags.ts";
import { askAdmin } from "./admin-request.ts";
import type { CommandContext } from "./context.ts";

export async function access(
  what: "explain" | "check",
  directory: string | undefined,
  flags: AccessFlags,
  context: CommandContext,
): Promise<ExitCode> {
  if (what === "explain") return explain(directory, flags, context);
  if (directory === undefined)
    throw new CommandError(exitCode.usage, "check needs the directory with the new rules", "xds access check DIR");
  return checkAccess(directory, flags, context);
}

async function explain(directory: string | undefined, flags: AccessFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  if (flags.name !== undefined && flags.type === undefined)
    throw new CommandError(exitCode.usage, "--name needs the --type of the resource");
  const { node, cluster, type, name, entry } = flags;
  const certified = flags.cert === undefined ? [] : ["certificate", ...(await namesIn(flags.cert))];
  const identities = [...(flags.identity ?? []), ...certified];
  const answer: ExplainAnswer =
    directory === undefined
      ? await askAdmin<AccessAnswer>(
          "/api/v1/access",
          { entry, node, cluster, type, name, identity: identities },
          flags,
          io,
        )
      : await explainByFiles(directory, { identities, ...flags }, context);
  if (flags.output === "json") io.stdout.write(formatJson(answer));
  else io.stdout.write(formatAnswer(answer, context));
  return answer.allowed ? exitCode.ok : exitCode.problems;
}

/** Addresses and mailboxes in a certificate are no identities. */
async function namesIn(file: string): Promise<readonly string[]> {
  try {
    return certificateNames(await readFile(file)).filter((name) => /^(?:uri|dns|cn):/.test(name));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(exitCode.problems, `cannot read the certificate ${file}: ${why}`);
  }
}

function formatAnswer(answer: ExplainAnswer, { colorsOf, io }: CommandContext): string {
  const colors = colorsOf(io.stdout);
  const { allowed, reason, at, layers, misses = [] } = answer;
  const verdict = allowed ? colors.green("allowed") : colors.red("denied");
  const lines = [`${verdict}: ${reason}${at === undefined ? "" : ` (${at})`}`];
  if (layers.length > 0) lines.push(`layers: ${layers.join(", ")}`);
  for (const { rule, field, at: place } of misses)
    lines.push(`rule ${rule + 1}${place === undefined ? "" : ` (${place})`}: ${field} ${fits(field)}`);
  return `${lines.join("\n")}\n`;
}

function fits(field: string): string {
  return field === "metadata" ? "does not fit" : "do not fit";
}
