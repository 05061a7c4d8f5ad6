import { expect, test } from "vitest";
import type { TypeName } from "../content/catalog.ts";
import { urlOf } from "../content/catalog.ts";
import { contentOf } from "../content/content.ts";
import type { PlainResponse } from "./driver.ts";
import { Observed } from "./observed.ts";
import { Repeats } from "./repeats.ts";
import { ScriptedClientStream } from "./scripted-client.ts";

function scene(type: TypeName) {
  const observed = new Observed(false);
  for (const is of ["a@1", "a@2", "b@1", "b@2"]) observed.learn(contentOf(type, is));
  const client = new ScriptedClientStream("sotw", type, "n1", false);
  client.compose({ names: ["a", "b"] }, observed);
  const repeats = new Repeats((resource) => observed.labelOf(resource));
  let nonce = 0;
  const response = (...specs: readonly string[]): PlainResponse => ({
    variant: "sotw",
    typeUrl: urlOf(type),
    version: "1",
    nonce: `${++nonce}`,
    removed: [],
    errors: [],
    isCanary: false,
    resources: specs.map((is) => ({
      name: undefined,
      version: undefined,
      aliases: [],
      typeUrl: urlOf(type),
      bytes: contentOf(type, is).bytes,
    })),
  });
  const compared = (sent: readonly string[], expected: readonly string[] | undefined) =>
    repeats
      .without(client, response(...sent), expected && { resources: expected })
      .resources.map((resource) => observed.labelOf(resource));
  return { compared, ask: (names: readonly string[]) => client.compose({ names }, observed) };
}

test("what a client asks for and has may be repeated beside what changed", () => {
  const { compared } = scene("eds");
  expect(compared(["a@1", "b@1"], ["a@1", "b@1"])).toEqual(["a@1", "b@1"]);
  expect(compared(["a@1", "b@2"], ["b@2"])).toEqual(["b@2"]);
  expect(compared(["a@1", "b@2"], ["a@1"])).toEqual(["a@1"]);
});

test("nothing is left out that is neither the newest nor wanted, of an unexpected response, or of a complete one", () => {
  const eds = scene("eds");
  eds.compared(["a@1", "b@1"], ["a@1", "b@1"]);
  expect(eds.compared(["a@1", "b@1"], undefined)).toEqual(["a@1", "b@1"]);
  eds.compared(["a@2"], ["a@2"]);
  expect(eds.compared(["a@1", "b@2"], ["b@2"])).toEqual(["a@1", "b@2"]);
  eds.ask(["b"]);
  expect(eds.compared(["a@1", "b@1"], ["b@1"])).toEqual(["a@1", "b@1"]);
  const cds = scene("cds");
  cds.compared(["a@1", "b@1"], ["a@1", "b@1"]);
  expect(cds.compared(["a@1", "b@2"], ["b@2"])).toEqual(["a@1", "b@2"]);
});

test("a nonce is compared with those of its type on its stream, a version in delta with those of other content", () => {
  const observed = new Observed(false);
  for (const is of ["a@1", "a@2"]) for (const type of ["cds", "eds"] as const) observed.learn(contentOf(type, is));
  const rendered = (stream: string, type: TypeName, [is, version, nonce]: readonly [string, string, string]) => {
    const { bytes } = contentOf(type, is);
    const common = { version: "", removed: [], errors: [], isCanary: false, typeUrl: urlOf(type), nonce };
    const resource = { name: "a", version, aliases: [], typeUrl: urlOf(type), bytes };
    const { resources, nonce: heard } = observed.render(
      stream,
      stream,
      { variant: "delta", ...common, resources: [resource] },
      undefined,
    );
    return [...resources, heard];
  };
  expect(rendered("main 1", "cds", ["a@1", "v1", "n1"])).toEqual(["a@1", "fresh"]);
  expect(rendered("main 1", "eds", ["a@1", "v1", "n1"])).toEqual(["a@1", "fresh"]);
  expect(rendered("main 1", "cds", ["a@1", "v1", "n1"])).toEqual(["a@1", "used before for the type on the stream"]);
  expect(rendered("main 1", "cds", ["a@2", "v1", "n2"])).toEqual(["a@2 under the version of a@1", "fresh"]);
  expect(rendered("other 2", "cds", ["a@2", "v1", "n2"])).toEqual(["a@2", "fresh"]);
  expect(rendered("main 1", "cds", ["a@2", "v2", "n3"])).toEqual(["a@2", "fresh"]);
  expect(rendered("main 1", "cds", ["a@1", "v3", "n4"])).toEqual(["a@1", "fresh"]);
});
