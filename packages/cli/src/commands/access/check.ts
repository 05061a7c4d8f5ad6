import { anonymousNode, type TypeUrl } from "@xdskit/protocol";
import { type AccessClaim, type AccessPolicy, isVisible, plainName, readClaim } from "@xdskit/protocol/internal";
import type { AccessClientAnswer, AccessRulesAnswer, Page } from "@xdskit/server";
import type { LoadedState } from "@xdskit/source";
import { CommandError, type ExitCode, exitCode } from "../../exit-code.ts";
import { formatJson } from "../../output/json.ts";
import { plural } from "../../output/problems.ts";
import { formatTable } from "../../output/table.ts";
import { askAdmin } from "../admin-request.ts";
import type { CommandContext } from "../context.ts";
import type { AccessFlags } from "./flags.ts";
import { layersIn, loadRules, policyOf } from "./rules.ts";

/** How many names of a change are shown to people. */
const NAMES_SHOWN = 3;

/** What new rules would change for one client. */
export interface AccessChange {
  readonly node: string;
  readonly peer: string;
  readonly entry: string;
  /** Why it would be refused as a whole, or is now. */
  readonly refused?: string;
  readonly admitted?: true;
  readonly loses: readonly TypedNames[];
  readonly gains: readonly TypedNames[];
}

interface TypedNames {
  readonly type: string;
  readonly names: readonly string[];
}

/** What `xds access check -o json` prints. */
interface AccessCheckAnswer {
  readonly clients: number;
  readonly changes: readonly AccessChange[];
}

/** Compares the rules in force with those of a directory, for every connected client and the resources of the directory. */
export async function checkAccess(directory: string, flags: AccessFlags, context: CommandContext): Promise<ExitCode> {
  const { io } = context;
  const { api, state, policy } = await loadRules(directory, context);
  const inForce = await askAdmin<AccessRulesAnswer>("/api/v1/access/rules", {}, flags, io);
  if (inForce.kind === "function")
    throw new CommandError(exitCode.problems, "a program decides access there, not rules: nothing to compare with");
  const now = policyOf(api, inForce);
  const { items } = await askAdmin<Page<AccessClientAnswer>>("/api/v1/access/clients", {}, flags, io);
  const changes = items.flatMap((client) => changeFor(client, { policies: [now, policy], held: state, at: io.now() }));
  const answer: AccessCheckAnswer = { clients: items.length, changes };
  if (flags.output === "json") io.stdout.write(formatJson(answer));
  else io.stdout.write(formatChanges(answer, context));
  const isLoss = changes.some(({ refused, loses }) => refused !== undefined || loses.length > 0);
  return isLoss ? exitCode.problems : exitCode.ok;
}

interface Compared {
  /** The one in force and the new one. */
  readonly policies: readonly [AccessPolicy, AccessPolicy];
  readonly held: LoadedState;
  readonly at: Date;
}

function changeFor(client: AccessClientAnswer, { policies, held, at }: Compared): readonly AccessChange[] {
  const read = readClaim({ entryPoint: client.entry, identities: client.identities, node: client.node, validTo: at });
  if ("problem" in read) return [];
  const node = { ...anonymousNode, id: client.node, cluster: client.cluster, metadata: client.metadata };
  const claim: AccessClaim = { ...read, node };
  const layers = layersIn(held, node, claim.peer);
  if ("refused" in layers) return [];
  const types = client.types as readonly TypeUrl[];
  const [before, after] = policies.map((policy) => visibleTo(policy, claim, { layers, types, held: held.layers }));
  const said = { node: client.node, peer: client.peer, entry: client.entry };
  if (before === undefined || after === undefined) return [];
  if (typeof after === "string") {
    return typeof before === "string" ? [] : [{ ...said, refused: after, loses: [], gains: [] }];
  }
  if (typeof before === "string") return [{ ...said, admitted: true, loses: [], gains: [] }];
  const [loses, gains] = [missingIn(before, after), missingIn(after, before)];
  return loses.length + gains.length === 0 ? [] : [{ ...said, loses, gains }];
}

type VisibleNames = ReadonlyMap<TypeUrl, ReadonlySet<string>>;

/** The names that a client would see of the types that it asks for, or why it is refused. */
function visibleTo(
  policy: AccessPolicy,
  claim: AccessClaim,
  {
    layers,
    types,
    held,
  }: {
    readonly layers: readonly string[];
    readonly types: readonly TypeUrl[];
    readonly held: LoadedState["layers"];
  },
): VisibleNames | string {
  const grant = policy.grant(claim, layers);
  if ("denied" in grant) return grant.denied;
  const names = new Map(types.map((type) => [type, new Set<string>()]));
  for (const layer of layers) {
    for (const { type, name } of held.get(layer) ?? []) {
      const plain = plainName(name);
      if (isVisible(grant, layer, { type, name: plain })) names.get(type)?.add(plain);
    }
  }
  return names;
}

function missingIn(these: VisibleNames, those: VisibleNames): readonly TypedNames[] {
  return [...these].flatMap(([type, names]) => {
    const missing = [...names].filter((name) => those.get(type)?.has(name) !== true);
    return missing.length === 0 ? [] : [{ type, names: missing }];
  });
}

function formatChanges({ clients, changes }: AccessCheckAnswer, { io, colorsOf }: CommandContext): string {
  const summary = `${plural(changes.length, "client")} of ${clients} would see a change\n`;
  if (changes.length === 0) return summary;
  const colors = colorsOf(io.stdout);
  const columns = [
    { title: "NODE", text: ({ node }: AccessChange) => (node === "" ? "(no id)" : node) },
    { title: "PEER", text: ({ peer }: AccessChange) => peer },
    { title: "ENTRY", text: ({ entry }: AccessChange) => entry },
    { title: "CHANGE", text: describeChange },
  ];
  return (
    formatTable(changes, columns, { colors, width: io.stdout.isTerminal ? io.stdout.columns : undefined }) + summary
  );
}

function describeChange({ refused, admitted, loses, gains }: AccessChange): string {
  if (refused !== undefined) return `refused: ${refused.split(":")[0]}`;
  if (admitted === true) return "let in";
  return [...loses.map(describeNames("loses")), ...gains.map(describeNames("gains"))].join("; ");
}

function describeNames(verb: string): (typed: TypedNames) => string {
  return ({ type, names }) => {
    const more = names.length > NAMES_SHOWN ? ` and ${names.length - NAMES_SHOWN} more` : "";
    return `${verb} ${type.slice(type.lastIndexOf(".") + 1)} ${names.slice(0, NAMES_SHOWN).join(", ")}${more}`;
  };
}
