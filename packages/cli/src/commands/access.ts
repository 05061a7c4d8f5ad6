import { readFile } from "node:fs/promises";
import { type AccessAnswer, certificateFault, certificateNames } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import type { Io } from "../io.ts";
import { formatJson } from "../output/json.ts";
import { checkAccess } from "./access/check.ts";
import { explainByFiles } from "./access/explain.ts";
import type { AccessFlags, ExplainAnswer } from "./access/flags.ts";
import { loadRules, type RulesInFiles } from "./access/rules.ts";
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
  const rules = directory === undefined ? undefined : await loadRules(directory, context);
  const shown = flags.cert === undefined ? undefined : await readCertificate(flags.cert, { entry, rules, io });
  const identities = [...(flags.identity ?? []), ...(shown?.identities ?? [])];
  const found: ExplainAnswer =
    rules === undefined
      ? await askAdmin<AccessAnswer>(
          "/api/v1/access",
          { entry, node, cluster, type, name, identity: identities },
          flags,
          io,
        )
      : explainByFiles(rules, { identities, ...flags }, context);
  const answer = shown?.fault === undefined ? found : { ...found, certificate: shown.fault };
  if (flags.output === "json") io.stdout.write(formatJson(answer));
  else io.stdout.write(formatAnswer(answer, context));
  return answer.allowed ? exitCode.ok : exitCode.problems;
}

/** What a server would make of a certificate: one that it does not trust counts for nothing. */
async function readCertificate(
  file: string,
  { entry, rules, io }: { readonly entry: string; readonly rules: RulesInFiles | undefined; readonly io: Io },
): Promise<{ readonly identities: readonly string[]; readonly fault?: ExplainAnswer["certificate"] }> {
  const trust = entry.startsWith("admin") ? rules?.adminTrust : rules?.trust;
  try {
    const pem = await readFile(file, "utf8");
    const [ca, crl] = await Promise.all(
      [trust?.ca, trust?.crl].map((path) => (path === undefined ? undefined : readFile(path, "utf8"))),
    );
    const fault = certificateFault(pem, { ca, crl, now: io.now() });
    if (fault !== undefined) return { identities: ["tls"], fault };
    return { identities: ["certificate", ...certificateNames(pem)] };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError(exitCode.problems, `cannot read the certificate ${file}: ${why}`);
  }
}

function formatAnswer(answer: ExplainAnswer, { colorsOf, io }: CommandContext): string {
  const colors = colorsOf(io.stdout);
  const { allowed, reason, at, certificate, layers, misses = [] } = answer;
  const verdict = allowed ? colors.green("allowed") : colors.red("denied");
  const lines = [`${verdict}: ${reason}${at === undefined ? "" : ` (${at})`}`];
  if (certificate !== undefined) lines.push(colors.yellow(`certificate: ${certificate}, so it counts for nothing`));
  if (layers.length > 0) lines.push(`layers: ${layers.join(", ")}`);
  for (const { rule, field, at: place } of misses)
    lines.push(`rule ${rule + 1}${place === undefined ? "" : ` (${place})`}: ${field} ${fits(field)}`);
  return `${lines.join("\n")}\n`;
}

function fits(field: string): string {
  return field === "metadata" ? "does not fit" : "do not fit";
}
