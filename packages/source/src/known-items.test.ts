import { createEnvoyApi, type EnvoyApi } from "@xdskit/envoy-api";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { KnownResources } from "./candidate-reader.ts";
import { decodeFile } from "./decode.ts";
import { ItemMemory } from "./document/item-memory.ts";
import { Places } from "./document/places.ts";
import type { FileContent } from "./file-content.ts";
import type { Decoding } from "./read-resource.ts";

const api = createEnvoyApi();

type Format = "yaml" | "json";

async function decode(
  text: string,
  known: KnownResources,
  format: Format = "yaml",
  given: EnvoyApi = api,
  more: Partial<Decoding> = {},
): Promise<FileContent> {
  const bytes = new TextEncoder().encode(text);
  const decoding: Decoding = { api: given, validation: "warn", ...more };
  return await decodeFile({ file: `f.${format}`, format, bytes }, decoding, known);
}

function shown({ resources, problems, refused }: FileContent): unknown {
  const read = resources.map(({ resource, place, isJsonSpelled }) => {
    return [resource.type, resource.name, resource.version, place, isJsonSpelled];
  });
  return { read, problems, refused };
}

const EDS = "{ ads: {}, resource_api_version: V3 }";
const cluster = (name: string, more = ""): string =>
  `- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: ${name}
  type: EDS
  eds_cluster_config: { eds_config: ${EDS} }
${more}`;

/** Items of a list as people write them, right and wrong. */
const items: readonly string[] = [
  cluster("a"),
  cluster("a", "  connect_timeout: 1s\n"),
  cluster("b", "\n# about the next\n"),
  cluster("c", "  alt_stat_name: |\n    - no item\n\n    - this neither\n"),
  cluster("late", "  connect_timeout: soon\n"),
  cluster("odd", "  conect_timeout: 1s\n"),
  cluster('" blank"'),
  `- name: w\n  ttl: 5s\n  resource:\n    "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\n    name: w\n    type: EDS\n    eds_cluster_config: { eds_config: ${EDS} }\n`,
  `- "@type": type.googleapis.com/envoy.service.discovery.v3.Resource\n  name: t\n  ttl: 5s\n  resource:\n    "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\n    name: t\n    type: EDS\n    eds_cluster_config: { eds_config: ${EDS} }\n`,
  "- name: typeless\n",
  `- { "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: flow }\n`,
  "-\n",
  "- - nested\n  - list\n",
  "- text\n",
  `-\n  "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\n  name: below\n`,
  cluster("anchored", "  metadata: &m {}\n"),
  cluster("dashes", "---\n"),
  cluster("tabbed", "  # a\ttab\n"),
  "  - too deep\n",
];

const indented = (text: string): string => text.replace(/^(?=.)/gm, "  ");
/** What is around a list. */
const around: readonly ((list: string) => string)[] = [
  (list) => list,
  (list) => `resources:\n${list}version_info: "1"\n`,
  (list) => `resources:\n${list}versoin_info: "1"\n`,
  (list) => `resources:\n${indented(list)}`,
  (list) => `type_url: envoy.config.cluster.v3.Cluster\nresources:\n${list}`,
  (list) => `${list}---\n${list}`,
  (list) => list.replaceAll("\n", "\r\n"),
  (list) => list.trimEnd(),
  (list) => `"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster\nname: around\nresources:\n${list}`,
  (list) => `resources:\n${list}"@type": type.googleapis.com/envoy.config.bootstrap.v3.Bootstrap\n`,
];

const jsonCluster = (name: string, more: object = {}): string =>
  JSON.stringify({
    "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name,
    type: "EDS",
    eds_cluster_config: { eds_config: { ads: {} } },
    ...more,
  });

/** Items of a list in JSON, right and wrong. */
const jsonItems: readonly string[] = [
  jsonCluster("a"),
  jsonCluster("a", { connect_timeout: "1s" }),
  jsonCluster("b]},{"),
  jsonCluster("late", { connect_timeout: "soon" }),
  jsonCluster("odd", { conect_timeout: "1s" }),
  jsonCluster(" blank"),
  JSON.stringify({ name: "w", ttl: "5s", resource: JSON.parse(jsonCluster("w")) as unknown }),
  JSON.stringify(JSON.parse(jsonCluster("pretty")), null, 2),
  '{ "name": "typeless" }',
  '{ "name": "twice", "name": "twice" }',
  "{}",
  "[{}]",
  '"text"',
  '{"@type": ',
];

const jsonAround: readonly ((list: readonly string[]) => string)[] = [
  (list) => `[${list.join(",")}]`,
  (list) => `[\n  ${list.join(",\n  ")}\n]\n`,
  (list) => `{"resources":[${list.join(", ")}],"version_info":"1"}`,
  (list) => `{"type_url":"envoy.config.cluster.v3.Cluster","resources":[${list.join(", ")}]}`,
  (list) => `{"versoin_info":"1","resources":[${list.join(", ")}]}`,
  (list) => `{"static_resources":{"resources":[${list.join(",")}],"clusters":[${list.join(",")}]}}`,
  (list) => `{"@type":"type.googleapis.com/envoy.config.cluster.v3.Cluster","resources":[${list.join(",")}]}`,
];

/** A change of a list: an item exchanged, inserted, removed, or moved to the end. */
type Edit = (list: readonly string[], at: number, item: string) => readonly string[];
const edits: readonly Edit[] = [
  (list, at, item) => list.map((one, index) => (index === at ? item : one)),
  (list, at, item) => list.toSpliced(at, 0, item),
  (list, at) => list.toSpliced(at, 1),
  (list, at) => [...list.toSpliced(at, 1), ...list.slice(at, at + 1)],
];

/** A list, and then the same list again and again with one edit, mostly with the same around it. */
function anyHistory(
  given: readonly string[],
  wrappings: readonly ((list: readonly string[]) => string)[],
): fc.Arbitrary<readonly string[]> {
  const item = fc.constantFrom(...given);
  const wraps = fc.constantFrom(...wrappings);
  const edit = fc.record({
    at: fc.nat(4),
    item,
    edit: fc.constantFrom(...edits),
    wraps: fc.option(wraps, { freq: 3, nil: undefined }),
  });
  return fc
    .record({
      first: fc.array(item, { minLength: 1, maxLength: 5 }),
      wraps,
      changes: fc.array(edit, { minLength: 1, maxLength: 4 }),
    })
    .map((history) => {
      const texts = [history.wraps(history.first)];
      let list: readonly string[] = history.first;
      for (const change of history.changes) {
        list = change.edit(list, change.at, change.item);
        texts.push((change.wraps ?? history.wraps)(list));
      }
      return texts;
    });
}

test.each<[Format, fc.Arbitrary<readonly string[]>]>([
  [
    "yaml",
    anyHistory(
      items,
      around.map((wrap) => (list) => wrap(list.join(""))),
    ),
  ],
  ["json", anyHistory(jsonItems, jsonAround)],
])("what is known of a file as it was changes nothing but cost (%s)", async (format, history) => {
  await fc.assert(
    fc.asyncProperty(history, async (texts) => {
      const [known, knownAlone] = [new KnownResources(), new KnownResources()];
      for (const text of texts) {
        const fresh = shown(await decode(text, new KnownResources(), format));
        expect(shown(await decode(text, known, format))).toEqual(fresh);
        expect(shown(await decode(text, knownAlone, format, api, { isAlone: true }))).toEqual(fresh);
      }
    }),
    { numRuns: 400 },
  );
});

/** Texts of right items only, with and without warnings. */
const rightTexts: readonly (readonly [Format, string])[] = [
  ...around.flatMap((wrap): [Format, string][] => [
    ["yaml", wrap([6, 1, 3, 6, 8, 2, 6].map((index) => items[index]).join(""))],
    ["yaml", wrap(Array.from({ length: 7 }, (_, index) => `- ${jsonCluster(` ${index}`)}\n`).join(""))],
  ]),
  ...jsonAround.map((wrap): [Format, string] => ["json", wrap([5, 1, 2, 5, 0, 7].map((i) => jsonItems[i] ?? ""))]),
];

test("a text in which anything is exchanged is read as if nothing was known of it", async () => {
  const pieces = ["", "\n", ",", "-", "  ", "{}", "}", "[", "]", '"', ": ", "x", "é", "#", "|", "---\n", "},{", "\r"];
  const harmless = ["", " ", "\n", "# about\n", "7", "secret"];
  const anywhere = { at: fc.oneof(fc.nat(), fc.integer({ min: -8, max: -1 })), back: fc.boolean() };
  const edit = fc.oneof(
    fc.record({ ...anywhere, after: fc.constant(""), length: fc.nat(40), piece: fc.constantFrom(...pieces) }),
    fc.record({
      ...anywhere,
      after: fc.constantFrom("\n", ",", "name: ", '"name":"'),
      length: fc.constant(0),
      piece: fc.constantFrom(...harmless),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...rightTexts), fc.array(edit, { maxLength: 4 }), async ([format, first], all) => {
      const known = new KnownResources();
      let text = first;
      await decode(text, known, format);
      for (const { at, after, length, piece, back } of all) {
        const from = text.indexOf(after, at < 0 ? text.length + 1 + at : at % (text.length + 1)) + after.length;
        const before = text;
        text = text.slice(0, from) + piece + text.slice(from + length);
        const now = shown(await decode(text, known, format));
        expect(now).toEqual(shown(await decode(text, new KnownResources(), format)));
        if (back) text = before;
      }
    }),
    { numRuns: 400 },
  );
});

test.each(["yaml", "json"] as const)(
  "a text that was wrong and longer for a while is known as it was (%s)",
  async (format) => {
    const textOf = (...names: readonly string[]): string =>
      format === "yaml"
        ? names.map((name) => cluster(name)).join("")
        : `[${names.map((name) => jsonCluster(name)).join()}]`;
    const known = new KnownResources();
    await decode(textOf("a", "b", "c"), known, format);
    await decode(`${textOf("d", "a", "b", "c")}%`, known, format);
    const text = textOf("a", "e", "c");
    expect(shown(await decode(text, known, format))).toEqual(shown(await decode(text, new KnownResources(), format)));
  },
);

/** Lists of clusters in each shape; cluster `at` has a timeout of its own. */
const shapes: readonly (readonly [string, Format, (count: number, at: number, ms: number) => string])[] = [
  ["block YAML", "yaml", (count, at, ms) => listOf(count, (i) => cluster(`c${i}`, i === at ? timeoutLine(ms) : ""))],
  [
    "flow YAML",
    "yaml",
    (count, at, ms) =>
      listOf(count, (i) => `- ${jsonCluster(`c${i}`, timeoutOf(i, at, ms)).replace(/":|,(?=")/g, "$& ")}\n`),
  ],
  ["JSON on one line", "json", (count, at, ms) => JSON.stringify(jsonList(count, at, ms))],
  ["pretty JSON", "json", (count, at, ms) => JSON.stringify(jsonList(count, at, ms), null, 2)],
];

const { note } = ItemMemory.prototype;
const timeoutLine = (ms: number): string => `  connect_timeout: ${ms / 1000}s\n`;
const timeoutOf = (i: number, at: number, ms: number): object => (i === at ? { connect_timeout: `${ms / 1000}s` } : {});
const listOf = (count: number, textOf: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => textOf(index)).join("");
const jsonList = (count: number, at: number, ms: number): readonly unknown[] =>
  Array.from({ length: count }, (_, i) => JSON.parse(jsonCluster(`c${i}`, timeoutOf(i, at, ms))) as unknown);

test.each(shapes)("one change is one resource read, however many there are (%s)", async (_, format, textOf) => {
  for (const count of [50, 100]) {
    const counting = { ...api, readResource: vi.fn<typeof api.readResource>(api.readResource.bind(api)) };
    const known = new KnownResources();
    const texts = [textOf(count, 7, 2500), `${textOf(count, 7, 2500)}%`, textOf(count, 7, 3250)];
    await decode(textOf(count, 7, 1000), known, format, counting);
    const readAtFirst = counting.readResource.mock.calls.length;
    const stringify = vi.spyOn(JSON, "stringify");
    const refused: number[] = [];
    for (const text of texts) refused.push((await decode(text, known, format, counting)).refused.length);
    const written = stringify.mock.calls.length;
    stringify.mockRestore();
    const readAfter = counting.readResource.mock.calls.length;
    expect({ readAtFirst, readAfter, refused, written }).toEqual({
      readAtFirst: count,
      readAfter: count + 2,
      refused: [0, 1, 0],
      written: 0,
    });
  }
});

test.each(shapes)(
  "without other work, items are read before those after them are parsed (%s)",
  async (_, format, textOf) => {
    const order = async (isAlone: boolean): Promise<string> => {
      let order = "";
      const noted = vi.spyOn(ItemMemory.prototype, "note");
      noted.mockImplementation(function (this: ItemMemory, ...given) {
        order += "n";
        return note.apply(this, given);
      });
      const more = { isAlone, onResource: () => (order += "r") };
      const { resources } = await decode(textOf(5, 2, 1000), new KnownResources(), format, api, more);
      noted.mockRestore();
      expect(resources.map(({ resource }) => resource.name)).toEqual(["c0", "c1", "c2", "c3", "c4"]);
      return order;
    };
    expect([await order(true), await order(false)]).toEqual(["nrnrnrnrnr", "nnnnnrrrrr"]);
  },
);

test.each(shapes)("one change is one item looked up, however many there are (%s)", async (_, format, textOf) => {
  const looked: unknown[] = [];
  for (const count of [500, 1_000]) {
    const known = new KnownResources();
    await decode(textOf(count, 7, 1000), known, format);
    const spies = {
      set: vi.spyOn(Map.prototype, "set"),
      search: vi.spyOn(String.prototype, "search"),
      toString: vi.spyOn(Buffer.prototype, "toString"),
    };
    await decode(textOf(count, 7, 2500), known, format);
    const searched = spies.search.mock.contexts.reduce<number>((sum, text) => sum + String(text).length, 0);
    const { calls, results } = spies.toString.mock;
    const read = results.reduce((sum, { value }) => sum + String(value).length, 0);
    looked.push({ set: spies.set.mock.calls.length, searched, texts: calls.length, read });
    for (const spy of Object.values(spies)) spy.mockRestore();
  }
  expect(looked[1]).toEqual(looked[0]);
});

test.each(shapes)("a problem is placed by its item alone, however many there are (%s)", async (_, format, textOf) => {
  const noted = vi.spyOn(Places.prototype, "noteEntry");
  const counts: number[] = [];
  for (const count of [50, 100]) {
    const { problems } = await decode(textOf(count, 7, 0), new KnownResources(), format);
    expect(problems.map(({ path }) => path)).toEqual(["[7].connect_timeout"]);
    counts.push(noted.mock.calls.length);
    noted.mockClear();
  }
  noted.mockRestore();
  expect(counts[1]).toBe(counts[0]);
  expect(counts[0]).toBeGreaterThan(0);
});

test("items that did not change are the same resources, wherever they stand", async () => {
  const known = new KnownResources();
  const before = await decode(cluster("a") + cluster("b", "  connect_timeout: 1s\n") + cluster("c"), known);
  const after = await decode(
    cluster("new") + cluster("c") + cluster("b", "  connect_timeout: 2s\n") + cluster("a"),
    known,
  );
  const [a, b, c] = before.resources.map(({ resource }) => resource);
  const now = after.resources.map(({ resource }) => resource);
  expect([now[1] === c, now[2] === b, now[3] === a]).toEqual([true, false, true]);
  expect(now.map(({ name }) => name)).toEqual(["new", "c", "b", "a"]);
});

test.each([
  ["yaml", (names: readonly string[]) => names.map((name) => cluster(name)).join("")],
  [
    "json",
    (names: readonly string[]) =>
      JSON.stringify(names.map((name) => ({ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name }))),
  ],
] as const)("a resource with a warning is known like any other, and warned of again (%s)", async (format, textOf) => {
  const counting = { ...api, readResource: vi.fn<typeof api.readResource>(api.readResource.bind(api)) };
  const known = new KnownResources();
  const decodeNames = (names: readonly string[]): Promise<FileContent> => {
    const bytes = new TextEncoder().encode(textOf(names));
    return decodeFile({ file: `f.${format}`, format, bytes }, { api: counting, validation: "warn" }, known);
  };
  const names = ['" a"', '" b"', '" c"'].map((name) => (format === "json" ? name.slice(1, -1) : name));
  const before = await decodeNames(names);
  const after = await decodeNames([format === "json" ? " new" : '" new"', ...names]);
  const each = before.problems.length / 3;
  expect([after.problems.length, counting.readResource.mock.calls.length]).toEqual([4 * each, 4]);
  expect(each).toBeGreaterThan(0);
  expect(after.problems.slice(each).map(({ message }) => message)).toEqual(
    before.problems.map(({ message }) => message),
  );
  expect(after.resources.slice(1).map(({ resource }) => resource)).toEqual(
    before.resources.map(({ resource }) => resource),
  );
});
