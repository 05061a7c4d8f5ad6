import { execFile } from "node:child_process";
import { mkdir, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { contentDigest } from "@xdskit/envoy-api";
import { addSums, formatVersion } from "@xdskit/protocol";
import type { NodeLayers, Setup, StreamKind } from "../case.ts";
import { urlOf } from "../content/catalog.ts";
import { type Content, toResource } from "../content/content.ts";
import { UnsupportedStep } from "../play/driver.ts";
import { World } from "../play/world.ts";
import { LineProgram } from "./line-program.ts";
import type { RunningServer, Target } from "./target.ts";

const run = promisify(execFile);
const source = fileURLToPath(new URL("../../targets/go-control-plane/", import.meta.url));
const folder = fileURLToPath(new URL("../../../../.cache/peers/", import.meta.url));
const program = `${folder}conformance-go-control-plane`;

const BUILD_WITHIN_MS = 10 * 60_000;

/** Nodes that get a snapshot beside those that a case places. */
const USUAL_NODES = ["n1", "n2", "n3", ""];

/**
 * go-control-plane's snapshot cache, in a small program of ours that is built when it is not there. Undefined without Go.
 * Aggregated streams are played against its ordered ADS mode, per-type streams against the plain one.
 */
export async function createGoControlPlane(): Promise<Target | undefined> {
  if (!(await hasGo())) return undefined;
  await build();
  const lines = new LineProgram(program);
  let started = 0;
  return {
    name: "go-control-plane",
    tellsBookings: false,
    pace: { deadlineMs: 400, quietMs: 60, hasFence: false },
    start: (setup, kind) => start(lines, ++started, setup, kind),
    [Symbol.asyncDispose]: () => lines.close(),
  };
}

async function hasGo(): Promise<boolean> {
  try {
    await run("go", ["version"]);
    return true;
  } catch {
    return false;
  }
}

async function build(): Promise<void> {
  const builtAt = (await stat(program).catch(() => undefined))?.mtimeMs ?? 0;
  const files = await Promise.all(["main.go", "go.mod", "go.sum"].map((file) => stat(source + file)));
  if (files.every(({ mtimeMs }) => mtimeMs <= builtAt)) return;
  await mkdir(folder, { recursive: true });
  await run("go", ["build", "-o", program, "."], { cwd: source, timeout: BUILD_WITHIN_MS });
}

async function start(lines: LineProgram, id: number, setup: Setup, kind: StreamKind): Promise<RunningServer> {
  refuseSettings(setup);
  const { address } = await ask(lines, { do: "start", server: id, ads: kind === "ads" });
  const world = new World();
  let placement = setup.placement ?? {};
  const publish = async (): Promise<void> => {
    for (const node of new Set([...USUAL_NODES, ...Object.keys(placement)])) {
      await ask(lines, { do: "set", server: id, node, types: snapshotOf(world, placement[node] ?? ["base"]) });
    }
  };
  return {
    address: address ?? "",
    async commit(commit) {
      world.take(commit);
      await publish();
    },
    async place(next: NodeLayers) {
      placement = next;
      await publish();
    },
    async stop() {
      await ask(lines, { do: "stop", server: id });
    },
  };
}

/** What it has no switch for cannot be set up. */
function refuseSettings({ dialect, edition, requireNode }: Setup): void {
  if (edition !== undefined) throw new UnsupportedStep(`no edition ${edition}`);
  if (dialect !== undefined) throw new UnsupportedStep(`no switch ${Object.keys(dialect).join(", ")}`);
  if (requireNode === true) throw new UnsupportedStep("no switch for refusing streams without a node");
}

async function ask(lines: LineProgram, command: object): Promise<{ address?: string; unsupported?: string }> {
  const answer = (await lines.ask(command)) as { address?: string; unsupported?: string };
  if (answer.unsupported !== undefined) throw new UnsupportedStep(answer.unsupported);
  return answer;
}

function snapshotOf(world: World, layers: readonly string[]): object[] {
  const printed = world.typeVersions(layers);
  const contents = world.view(layers).filter((content) => !content.onDemand);
  return [...new Set(contents.map(({ type }) => type))].map((type) => {
    const members = contents.filter((content) => content.type === type);
    return {
      url: urlOf(type),
      version: printed.get(type) ?? versionOf(members),
      resources: members.map(({ bytes }) => Buffer.from(bytes).toString("base64")),
    };
  });
}

/** Users of the library make versions themselves; these are made from content, as one should. */
function versionOf(members: readonly Content[]): string {
  return formatVersion(members.map((member) => toResource(member).sum).reduce(addSums, contentDigest(["members"])));
}
