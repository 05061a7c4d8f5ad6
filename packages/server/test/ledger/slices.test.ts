import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { contentDigest } from "@xdskit/envoy-api";
import { createResource, formatTypeUrl, type Resource } from "@xdskit/protocol";
import { defaultFuses, type TypeKind, tripFuses } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Work } from "../../../protocol/test/support/work.ts";
import { openDirectoryLedger } from "../../src/ledger/directory-store.ts";
import { Publisher } from "../../src/ledger/publisher.ts";
import { DEFAULT_RETENTION } from "../../src/ledger/retention.ts";

const CLUSTER = formatTypeUrl("envoy.config.cluster.v3.Cluster");

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "xdskit-slices-"));
});

afterEach(() => rmSync(directory, { recursive: true }));

/** A publisher whose target takes no steps, and to which all resources are of one kind. */
async function start(name: string, kind: TypeKind): Promise<Publisher> {
  let revision = 0;
  const kindOf = (): TypeKind => kind;
  return await Publisher.open({
    store: await openDirectoryLedger({ directory: join(directory, name) }),
    ...{ retention: DEFAULT_RETENTION, digest: contentDigest },
    ...{ holdsSecret: () => false, kindOf, nodesBy: () => [] },
    judge: (change, state) => tripFuses(change, state, { time: 0, kindOf, nodes: [] }, defaultFuses),
    target: {
      get revision() {
        return revision;
      },
      check: () => undefined,
      apply: () => ++revision,
      resources: () => [],
      changeMissing: () => undefined,
    },
    onRecorded: () => undefined,
    onResumed: () => undefined,
    onProblem: (message) => expect.unreachable(message),
  });
}

const clusters = (count: number, text: string): readonly Resource[] =>
  Array.from({ length: count }, (_, i) =>
    createResource({ type: CLUSTER, name: `c${i}`, bytes: new TextEncoder().encode(text) }, contentDigest),
  );

/** The steps of the longest turn while the last of some lists is published. */
async function longestTurn(lists: readonly (readonly Resource[])[], kind: TypeKind): Promise<number> {
  const publisher = await start(`${lists[0]?.length}`, kind);
  const publish = (list: readonly Resource[]) =>
    publisher.publish({ layers: new Map([["base", list]]), origin: { writer: "directory" } });
  for (const list of lists.slice(0, -1)) await publish(list);
  const steps = await new Work().ofLongestTurn(() => publish(lists.at(-1) ?? []));
  await publisher.close();
  return steps;
}

const kinds: readonly TypeKind[] = ["cds", "eds"];

test.each([
  ["new", (count: number) => [clusters(count, "1")]],
  ["changed", (count: number) => [clusters(count, "1"), clusters(count, "2")]],
  ["deleted", (count: number) => [clusters(count, "1"), []]],
])("a publication of resources that are %s is divided, however many they are", async (_, lists) => {
  for (const kind of kinds) {
    const few = await longestTurn(lists(1_500), kind);
    const many = await longestTurn(lists(4_500), kind);
    expect(many, kind).toBeLessThan(1.1 * few);
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
  }
});
