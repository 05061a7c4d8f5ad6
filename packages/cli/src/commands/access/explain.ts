import { readClaim } from "@xdskit/protocol/internal";
import { roleOfIdentities } from "@xdskit/server";
import { CommandError, exitCode } from "../../exit-code.ts";
import type { CommandContext } from "../context.ts";
import type { AccessAsked, ExplainAnswer } from "./flags.ts";
import { layersIn, type RulesInFiles } from "./rules.ts";

/** What the rules of a directory say. */
export function explainByFiles(
  { api, state, policy, places, adminEntry }: RulesInFiles,
  { identities, entry, node, cluster, type: typeName, name }: AccessAsked,
  context: CommandContext,
): ExplainAnswer {
  const role = adminEntry && roleOfIdentities(identities, adminEntry);
  const claim = readClaim({ entryPoint: entry, identities, node, cluster, role, validTo: context.io.now() });
  if ("problem" in claim) throw new CommandError(exitCode.usage, `--${claim.problem}`);
  const type = typeName === undefined ? undefined : api.typeNamed(typeName);
  if (typeName !== undefined && type === undefined)
    throw new CommandError(exitCode.usage, `--type: unknown type "${typeName}"`);
  const layers = claim.node === undefined ? [] : layersIn(state, claim.node, claim.peer);
  if ("refused" in layers) throw new CommandError(exitCode.problems, `the node is refused: ${layers.refused}`);
  const { isAllowed, misses, ...verdict } = policy.explain(claim, layers, type && { type, name });
  const placed = (rule: number | undefined): { readonly at?: string } => {
    const at = rule === undefined ? undefined : places[rule];
    return at === undefined ? {} : { at };
  };
  return {
    ...{ allowed: isAllowed, entry: claim.entryPoint, layers },
    ...(claim.node !== undefined && { node: claim.node.id }),
    ...(type !== undefined && { type }),
    ...(name !== undefined && { name }),
    ...{ ...verdict, ...placed(verdict.rule) },
    ...(misses !== undefined && { misses: misses.map((miss) => ({ ...miss, ...placed(miss.rule) })) }),
  };
}
