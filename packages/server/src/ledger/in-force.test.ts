import { formatTypeUrl, type LayerChange } from "@xdskit/protocol";
import type { EntryChange } from "@xdskit/protocol/internal";
import { expect, test } from "vitest";
import { resource } from "../../test/ledger/support/publishing.ts";
import { Slices } from "../slices.ts";
import { StateInForce } from "./in-force.ts";

const SECRET = formatTypeUrl("envoy.extensions.transport_sockets.tls.v3.Secret");

/** A state whose changes are put into a target that may refuse them. */
function start() {
  const told: string[] = [];
  let isBroken = false;
  const state = new StateInForce(
    {
      revision: 0,
      check: () => undefined,
      apply({ changes }) {
        if (isBroken) throw new Error("it does not fit");
        told.push(`put ${namesOf(changes)}`);
        return 1;
      },
      resources: () => [],
      changeMissing: ({ added, removed }) => {
        for (const { name } of added) told.push(`${name} is missing`);
        for (const { name } of removed) told.push(`${name} is back`);
      },
    },
    () => "opaque",
    new Slices(),
  );
  const put = async (names: readonly string[], hasContent: boolean): Promise<unknown> => {
    const changes = names.map((name): EntryChange => {
      const entry = { version: "1" } as NonNullable<EntryChange["after"]>;
      return { layer: "base", type: SECRET, name, before: undefined, after: entry };
    });
    const resources = new Map(hasContent ? changes.map((change) => [change, resource(SECRET, change.name)]) : []);
    return await state.put({ changes: { changes, resources }, placement: undefined });
  };
  return { state, told, put, break: (broken: boolean) => (isBroken = broken) };
}

const namesOf = (changes: readonly LayerChange[]): string =>
  changes.flatMap(({ puts = [] }) => puts.map(({ name }) => name)).join(",");

test("content that comes back one by one is told one by one, however much else is missing", async () => {
  const { state, told, put } = start();
  await put(["a", "b", "c", "d"], false);
  for (const name of ["b", "a"]) await put([name], true);
  await put(["c"], false);
  expect(told).toEqual([
    ...["a is missing", "b is missing", "c is missing", "d is missing", "put "],
    ...["put b", "b is back", "put a", "a is back"],
    ...["c is missing", "put "],
  ]);
  expect(state.missing.map(({ name }) => name)).toEqual(["c", "d"]);
});

test("content stays missing if it cannot be put in force", async () => {
  const { state, told, put, break: breakTarget } = start();
  await put(["a"], false);
  breakTarget(true);
  await expect(put(["a"], true)).rejects.toThrow("it does not fit");
  expect(state.missing.map(({ name }) => name)).toEqual(["a"]);
  breakTarget(false);
  await put(["a"], true);
  expect([told, state.missing]).toEqual([["a is missing", "put ", "put a", "a is back"], []]);
});
