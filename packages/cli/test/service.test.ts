import { setImmediate as nextTurn } from "node:timers/promises";
import { contentDigest } from "@xdskit/envoy-api";
import { type Commit, createResource, formatTypeUrl } from "@xdskit/protocol";
import type { Load, LoadedState } from "@xdskit/source";
import { expect, test } from "vitest";
import { BegunLoad } from "../src/commands/serve/begun-load.ts";
import { committing } from "../src/commands/serve/publishing.ts";
import { Service, type ServiceParts } from "../src/commands/serve/service.ts";
import { CapturedIo } from "./captured-io.ts";

const type = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const cluster = createResource({ type, name: "a", bytes: new Uint8Array() }, contentDigest);
const first: LoadedState = {
  ...{ layers: new Map([["base", [cluster]]]), settings: {}, clients: [], listeners: [], groups: [] },
  ...{ files: 1, resources: 1 },
};

type Source = ServiceParts["source"];

function serviceOf(source: Source, publishing: ServiceParts["publishing"]): Service {
  const unused = async (): Promise<void> => {};
  return new Service({
    server: { reportSource: () => undefined },
    publishing,
    source,
    log: { write: () => undefined, told: () => undefined } as never,
    context: { io: new CapturedIo(), colorsOf: () => ({}) as never, perform: unused, performUntilInterrupted: unused },
    file: { settings: {}, listeners: [] },
    place: { shown: "config", shownDirectory: "config" },
    isText: false,
    onServing: () => undefined,
  });
}

/** A service that loads these states one after another, and what it committed. */
async function committed(states: readonly LoadedState[]): Promise<readonly Commit[]> {
  const commits: Commit[] = [];
  const loads = states.map((state): Load => ({ state: { ...state, settings: {} }, problems: [] }));
  const source: Source = {
    load: async () => loads.shift() ?? { state: undefined, problems: [] },
    async *watch() {
      yield* loads.splice(0);
    },
  };
  const service = serviceOf(source, committing({ commit: (commit) => commits.push(commit), revision: 1 }));
  await service.load();
  await service.follow(new AbortController().signal);
  return commits;
}

test("what is begun is the next load, whose resources are prepared in turns", async () => {
  const done: unknown[] = [];
  const [other, third] = ["b", "c"].map((name) =>
    createResource({ type, name, bytes: new Uint8Array() }, contentDigest),
  );
  if (other === undefined || third === undefined) throw new Error("expected two resources");
  let goOn = (): void => undefined;
  const going = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const source: Source = {
    load: async (_, onResources) => {
      done.push("read");
      onResources?.([cluster]);
      onResources?.([other]);
      await going;
      onResources?.([third]);
      return { state: { ...first, settings: {} }, problems: [] };
    },
    async *watch() {},
  };
  const service = serviceOf(source, {
    prepare: (resources) => void done.push(...resources.map(({ name }) => name)),
    publish: () => {
      done.push("publish");
      return [];
    },
    describeInForce: () => undefined,
  });
  const begun = new BegunLoad(source);
  await nextTurn();
  expect(done).toEqual(["read"]);
  service.begin(begun);
  const loading = service.load();
  await nextTurn();
  expect(done).toEqual(["read", "a"]);
  await nextTurn();
  expect(done).toEqual(["read", "a", "b"]);
  await nextTurn();
  goOn();
  await loading;
  expect(done).toEqual(["read", "a", "b", "c", "publish"]);
  await service.load();
  expect(done.filter((one) => one === "read" || one === "publish")).toEqual(["read", "publish", "read", "publish"]);
});

test("a load that nobody takes in may fail", async () => {
  const begun = new BegunLoad({ load: () => Promise.reject(new Error("closed")) });
  await nextTurn();
  await expect(begun.ended).rejects.toThrow("closed");
});

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
