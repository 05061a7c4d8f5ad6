import { CommandError, type ExitCode, exitCode } from "../exit-code.ts";
import type { Colors } from "../output/color.ts";
import { formatJson } from "../output/json.ts";
import { oneLine } from "../output/one-line.ts";
import { plural } from "../output/problems.ts";
import type { CommandContext } from "./context.ts";
import { compareSides, type ResourceDifference } from "./diff/compare.ts";
import { diffEnvoy } from "./diff/diff-envoy.ts";
import type { DiffFlags } from "./diff/flags.ts";
import { formatField } from "./diff/format-field.ts";
import { type DiffSide, readSide, viewThrough } from "./diff/side.ts";

/** Compares two sides; the second is the running server unless it is given. */
export async function diff(
  a: string | undefined,
  b: string | undefined,
  flags: DiffFlags,
  context: CommandContext,
): Promise<ExitCode> {
  const { io, colorsOf } = context;
  const { node, envoy } = flags;
  if (node !== undefined || envoy !== undefined) {
    if (node !== undefined && envoy !== undefined && a === undefined) return diffEnvoy({ node, envoy }, flags, context);
    throw new CommandError(exitCode.usage, "--node and --envoy go together, without other sides");
  }
  if (a === undefined)
    throw new CommandError(exitCode.usage, "what is to be compared?", "xds diff --help has examples");
  const [sideA, sideB] = sameScope(await readSide(a, flags, io), await readSide(b, flags, io));
  const { equal, differences } = compareSides(sideA, sideB);
  if (flags.output === "json") io.stdout.write(formatJson({ equal, differences }));
  else {
    const colors = colorsOf(io.stdout);
    for (const difference of differences) io.stdout.write(formatDifference(difference, colors));
    io.stdout.write(
      `${plural(differences.length, "resource")} ${differences.length === 1 ? "differs" : "differ"}, ${equal} equal\n`,
    );
  }
  return differences.length === 0 ? exitCode.ok : exitCode.problems;
}

/** If one side is a node's view, the other is looked at through its layers. */
function sameScope(a: DiffSide, b: DiffSide): readonly [DiffSide["items"], DiffSide["items"]] {
  const layers = a.nodeLayers ?? b.nodeLayers;
  if (layers === undefined) return [a.items, b.items];
  if (layers.length === 0) throw new CommandError(exitCode.problems, "the node has no layers");
  const view = ({ items, nodeLayers }: DiffSide): DiffSide["items"] =>
    nodeLayers === undefined ? viewThrough(items, layers) : items;
  return [view(a), view(b)];
}

function formatDifference({ kind, layer, type, name, fields = [] }: ResourceDifference, colors: Colors): string {
  const what = oneLine([layer, type.slice(type.lastIndexOf(".") + 1), name].filter((word) => word !== "").join(" "));
  if (kind === "only-a") return colors.red(`- ${what}\n`);
  if (kind === "only-b") return colors.green(`+ ${what}\n`);
  return [`  ${what}`, ...fields.map((field) => formatField(field, colors)), ""].join("\n");
}
