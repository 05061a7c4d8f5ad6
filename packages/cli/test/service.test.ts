import { contentDigest } from "@xdskit/envoy-api";
import { type Commit, createResource, formatTypeUrl } from "@xdskit/protocol";
import type { Load, LoadedState } from "@xdskit/source";
import { expect, test } from "vitest";
import { committing } from "../src/commands/serve/publishing.ts";
import { Service } from "../src/commands/serve/service.ts";
import { CapturedIo } from "./captured-io.ts";

const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const cluster = createResource({ type, name: "a", bytes: new Uint8Array() }, contentDigest);
const first: LoadedState = {
  ...{ layers: new Map([["base", [cluster]]]), settings: {}, clients: [], listeners: [], groups: [] },
  ...{ files: 1, resources: 1 },
};

/** A service that loads these states one after another, and what it committed. */
async function committed(states: readonly LoadedState[]): Promise<readonly Commit[]> {
  const commits: Commit[] = [];
  const loads = states.map((state): Load => ({ state: { ...state, settings: {} }, problems: [] }));
  const source = {
    load: async () => loads.shift() ?? { state: undefined, problems: [] },
    async *watch() {
      yield* loads.splice(0);
    },
  };
  const unused = async (): Promise<void> => {};
  const service = new Service({
    server: { reportSource: () => undefined },
    publishing: committing({ commit: (commit) => commits.push(commit), revision: 1 }),
    source,
    log: { write: () => undefined, told: () => undefined } as never,
    context: { io: new CapturedIo(), colorsOf: () => ({}) as never, perform: unused, performUntilInterrupted: unused },
    file: { settings: {}, listeners: [] },
    place: { shown: "config", shownDirectory: "config" },
    isText: false,
    onServing: () => undefined,
  });
  await service.load();
  await service.follow(new AbortController().signal);
  return commits;
}

test("an edit of resources, groups, access and client rules is one commit", async () => {
  const groups = [{ name: "edge", match: { id: ["edge-*"] } }];
  const access = { rules: [{ identities: ["anyone"] }] };
  const clients = [{ match: {}, edition: "2021" }] as const;
  const layers = new Map([...first.layers, ["group/edge", [cluster]] as const]);
  expect(await committed([first, { ...first, layers, groups, access, clients }, { ...first, layers, groups }])).toEqual(
    [
      { changes: [{ layer: "base", puts: [cluster] }], nodeMapping: { groups: [] }, clientOverrides: [] },
      {
        changes: [{ layer: "group/edge", puts: [cluster] }],
        nodeMapping: { groups },
        access,
        clientOverrides: clients,
      },
      { changes: [], access: "default", clientOverrides: [] },
    ],
  );
});
