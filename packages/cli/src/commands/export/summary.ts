import { join } from "node:path";
import type { FileOutput } from "@xdskit/server";
import { stringify } from "yaml";
import { oneLine } from "../../output/one-line.ts";
import { plural } from "../../output/problems.ts";
import { type ExportRecord, formatCounts } from "./record.ts";

/** Rewritten config sources that are printed; the rest is counted. */
const MAX_TOLD = 20;

export interface ExportSummary {
  readonly output: FileOutput;
  readonly resources: number;
  readonly record: ExportRecord;
}

/** Formats the summary as YAML: comments, then the `dynamic_resources` for Envoy's bootstrap. */
export function formatSummary({ output, resources, record }: ExportSummary): string {
  const { rewritten } = record;
  const lines = [
    `# ${output.directory}: ${plural(resources, "resource")}, ${formatCounts(record)}`,
    ...(rewritten.length === 0 ? [] : [`# ${plural(rewritten.length, "config source")} rewritten:`]),
    ...rewritten.slice(0, MAX_TOLD).map(({ name, path, file = "" }) => `#   ${oneLine(name)}: ${path} -> ${file}`),
    ...(rewritten.length > MAX_TOLD ? [`#   and ${rewritten.length - MAX_TOLD} more`] : []),
    "# in the bootstrap of Envoy:",
  ];
  return `${lines.join("\n")}\n${stringify(bootstrapOf(output), { lineWidth: 0 })}`;
}

function bootstrapOf(output: FileOutput): object {
  return {
    dynamic_resources: { lds_config: sourceOf(output, "lds"), cds_config: sourceOf(output, "cds") },
  };
}

function sourceOf({ directory, format = "yaml", symlinks, apiVersion }: FileOutput, name: string): object {
  const path = join(directory, `${name}.${format}`);
  // A bootstrap of v2 has neither field.
  if (apiVersion === "v2") return { path };
  return {
    resource_api_version: "V3",
    path_config_source: symlinks === true ? { path, watched_directory: { path: directory } } : { path },
  };
}
