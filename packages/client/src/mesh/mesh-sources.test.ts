import { expect, test } from "vitest";
import { grpcSource, SECRET, testApi } from "../../test/support/sources.ts";
import { loadBootstrap } from "../config/load-bootstrap.ts";
import { MeshSources } from "./mesh-sources.ts";
import { StaticResources } from "./static-source.ts";

const api = testApi();

function mesh(): MeshSources {
  const { config } = loadBootstrap({ value: { node: { id: "n", cluster: "c" } } }, { api });
  if (config === undefined) throw new Error("expected a configuration");
  return new MeshSources({ api, config, defaults: {}, statics: new StaticResources([], api) });
}

/** Resolves the source of a secret that comes from this file: another timeout makes another source. */
function find(sources: MeshSources, seconds: number): string {
  const place = { path_config_source: { path: import.meta.filename }, initial_fetch_timeout: `${seconds}s` };
  const { bytes = new Uint8Array() } = api.readMessage("envoy.config.core.v3.ConfigSource", place);
  const rest = { type: SECRET, name: "s", timeoutMs: 0, warms: false, fetched: "at-once" } as const;
  return sources.resolve({ source: { kind: "path", bytes }, ...rest }, "ads") ?? "none";
}

test("of ever new sources that resources name, those that are used are kept", () => {
  const sources = mesh();
  const given = sources.add({ ...grpcSource([]), id: "given" });
  const used = find(sources, 1);
  const others: string[] = [];
  let most = 0;
  for (let seconds = 2; seconds < 500; seconds++) {
    others.push(find(sources, seconds));
    most = Math.max(most, others.filter((id) => sources.get(id) !== undefined).length);
    if (sources.isUntidy) sources.tidy([used, ...others.slice(-1)]);
  }
  expect([new Set(others).size, most]).toEqual([498, 104]);
  expect([given, used, ...others.slice(-1)].every((id) => sources.get(id)?.id === id)).toBe(true);
});
