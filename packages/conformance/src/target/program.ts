import { contentDigest } from "@xdskit/envoy-api";
import { addSums, formatVersion } from "@xdskit/protocol/internal";
import type { NodeLayers, Setup, StreamKind } from "../case.ts";
import { hasNameInside, type TypeName, urlOf } from "../content/catalog.ts";
import { type Content, toResource } from "../content/content.ts";
import { type Commit, UnsupportedStep } from "../play/driver.ts";
import { World } from "../play/world.ts";
import { LineProgram } from "./line-program.ts";
import type { Pace, RunningServer, Target } from "./target.ts";

/** Nodes that get a state in addition to the ones of the case's node mapping. */
const USUAL_NODES = ["n1", "n2", "n3", ""];

/**
 * A server behind a program that reads commands as JSON lines (README.md): it starts and stops servers, and sets the
 * resources of a node.
 */
export function createProgramTarget(name: string, file: string, pace: Pace): Target {
  const lines = new LineProgram(file);
  let started = 0;
  return {
    name,
    tellsBookings: false,
    isExact: false,
    hasRest: false,
    pace,
    start: (setup, kind) => start(lines, ++started, setup, kind),
    [Symbol.asyncDispose]: () => lines.close(),
  };
}

async function start(lines: LineProgram, id: number, setup: Setup, kind: StreamKind): Promise<RunningServer> {
  refuseSettings(setup);
  const { address } = await ask(lines, { do: "start", server: id, ads: kind === "ads" });
  const world = new World();
  const types = new Set<TypeName>();
  let nodeMapping = setup.nodeMapping ?? {};
  const publish = async (): Promise<void> => {
    for (const node of new Set([...USUAL_NODES, ...Object.keys(nodeMapping)])) {
      await ask(lines, { do: "set", server: id, node, types: snapshotOf(world, types, nodeMapping[node] ?? ["base"]) });
    }
  };
  return {
    address: address ?? "",
    async commit(commit) {
      refuseUntold(commit);
      world.take(commit);
      for (const { puts } of commit.changes) for (const { type } of puts) types.add(type);
      await publish();
    },
    async place(next: NodeLayers) {
      nodeMapping = next;
      await publish();
    },
    async stop() {
      await ask(lines, { do: "stop", server: id });
    },
  };
}

/** Throws an `UnsupportedStep` for settings that a program has no command for. */
function refuseSettings({ dialect, edition, requireNode }: Setup): void {
  if (edition !== undefined) throw new UnsupportedStep(`no edition ${edition}`);
  if (dialect !== undefined) throw new UnsupportedStep(`no switch ${Object.keys(dialect).join(", ")}`);
  if (requireNode === true) throw new UnsupportedStep("no switch for refusing streams without a node");
}

/** Throws an `UnsupportedStep` for what the commands, which carry messages and a version for each type, leave out. */
function refuseUntold({ changes, systemVersion }: Commit): void {
  if (systemVersion !== undefined) throw new UnsupportedStep("a program is told no system version");
  for (const { puts, canaries } of changes) {
    if (canaries.size > 0) throw new UnsupportedStep("a program is told of no canaries");
    for (const content of puts) {
      const untold = untoldOf(content);
      if (untold !== undefined) throw new UnsupportedStep(`a program is told of no ${untold}`);
    }
  }
}

function untoldOf(content: Content): string | undefined {
  if (content.error !== undefined) return "errors in place of resources";
  if (content.ttlMs !== undefined) return "ttls";
  if (content.aliases.length > 0) return "aliases";
  if (content.onDemand) return "resources on demand";
  if (content.when !== undefined) return "constraints";
  if (content.doNotCache) return "cache control";
  if (content.metadata !== undefined) return "metadata";
  if (content.version !== undefined) return "versions of single resources";
  return hasNameInside(content.type) ? undefined : "names that are not in their resources";
}

async function ask(lines: LineProgram, command: object): Promise<{ address?: string; unsupported?: string }> {
  const answer = (await lines.ask(command)) as { address?: string; unsupported?: string };
  if (answer.unsupported !== undefined) throw new UnsupportedStep(answer.unsupported);
  return answer;
}

/** A published type stays in the snapshot, even when it becomes empty. */
function snapshotOf(world: World, types: ReadonlySet<TypeName>, layers: readonly string[]): object[] {
  const printed = world.typeVersions(layers);
  const contents = world.view(layers);
  return [...types].map((type) => {
    const members = contents.filter((content) => content.type === type);
    return {
      url: urlOf(type),
      version: printed.get(type) ?? versionOf(members),
      resources: members.map(({ bytes }) => Buffer.from(bytes).toString("base64")),
    };
  });
}

/** A type version derived from content, which users of such a library set themselves. */
function versionOf(members: readonly Content[]): string {
  return formatVersion(members.map((member) => toResource(member).sum).reduce(addSums, contentDigest(["members"])));
}
