import type { NodeResourcesAnswer } from "@xdskit/server";
import { CommandError, type ExitCode, exitCode } from "../../exit-code.ts";
import { formatJson } from "../../output/json.ts";
import { plural } from "../../output/problems.ts";
import { formatTable } from "../../output/table.ts";
import { loadApi } from "../../settings/load-api.ts";
import { splitPaths } from "../../settings/split-paths.ts";
import { askAdmin, askJson } from "../admin-request.ts";
import type { CommandContext } from "../context.ts";
import { compareWithEnvoy, type EnvoyComparison } from "./compare-envoy.ts";
import { envoyResourcesIn } from "./envoy-dump.ts";
import type { DiffFlags } from "./flags.ts";

const DUMP = "/config_dump?include_eds";

/** Compares what an Envoy has with what the server believes that the node has. */
export async function diffEnvoy(
  { node, envoy }: { readonly node: string; readonly envoy: string },
  flags: DiffFlags,
  { io, colorsOf }: CommandContext,
): Promise<ExitCode> {
  const api = await loadApi(splitPaths(io.env["XDS_DESCRIPTORS"] ?? ""));
  const query = { node, body: "true", "field-names": "proto" };
  const { items } = await askAdmin<NodeResourcesAnswer>("/api/v1/node-resources", query, flags, io);
  const held = envoyResourcesIn(await askJson(envoyUrl(envoy), "Envoy's admin interface", io), api);
  if (held === undefined)
    throw new CommandError(
      exitCode.problems,
      `${envoy}${DUMP} is no configuration dump`,
      "is it Envoy's admin interface?",
    );
  const compared = compareWithEnvoy(items, held, api);
  const different = compared.filter(({ verdict }) => verdict !== "same");
  if (flags.output === "json") io.stdout.write(formatJson({ resources: compared }));
  else {
    const colors = colorsOf(io.stdout);
    const columns = [
      { title: "TYPE", text: ({ type }: EnvoyComparison) => type.slice(type.lastIndexOf(".") + 1) },
      { title: "NAME", text: ({ name }: EnvoyComparison) => name },
      { title: "ENVOY", text: ({ verdict }: EnvoyComparison) => verdict, color: (text: string) => colors.red(text) },
      { title: "SERVER", text: ({ status }: EnvoyComparison) => status ?? "" },
      { title: "FIELDS", text: ({ fields = [] }: EnvoyComparison) => fields.map(({ path }) => path).join(", ") },
    ];
    const width = io.stdout.isTerminal ? io.stdout.columns : undefined;
    if (different.length > 0) io.stdout.write(formatTable(different, columns, { colors, width }));
    io.stdout.write(`${plural(compared.length, "resource")}: ${countVerdicts(compared)}\n`);
  }
  return different.length === 0 ? exitCode.ok : exitCode.problems;
}

function envoyUrl(given: string): URL {
  try {
    return new URL(DUMP, /^https?:\/\//.test(given) ? given : `http://${given}`);
  } catch {
    throw new CommandError(exitCode.usage, `--envoy: expected a URL or host:port, got "${given}"`);
  }
}

/** `3 same, 1 missing` */
function countVerdicts(compared: readonly EnvoyComparison[]): string {
  const verdicts = ["same", "other-version", "missing", "extra"] as const;
  const counts = verdicts.map(
    (verdict) => [verdict, compared.filter((one) => one.verdict === verdict).length] as const,
  );
  const said = counts.filter(([verdict, count]) => count > 0 || verdict === "same");
  return said.map(([verdict, count]) => `${count} ${verdict}`).join(", ");
}
