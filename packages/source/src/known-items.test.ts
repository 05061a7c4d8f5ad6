import { createEnvoyApi } from "@xdskit/envoy-api";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { KnownResources } from "./candidate-reader.ts";
import { decodeFile } from "./decode.ts";
import type { FileContent } from "./file-content.ts";

const api = createEnvoyApi();

async function decode(text: string, known: KnownResources): Promise<FileContent> {
  const bytes = new TextEncoder().encode(text);
  return await decodeFile({ file: "f.yaml", format: "yaml", bytes }, { api, validation: "warn" }, known);
}

function shown({ resources, problems, refused }: FileContent): unknown {
  const read = resources.map(({ resource, place }) => [resource.type, resource.name, resource.version, place]);
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
];
const anyItem = fc.constantFrom(...items);
/** A list, and then the same list again and again with one item of it exchanged, mostly with the same around it. */
const anyHistory = fc
  .record({
    first: fc.array(anyItem, { minLength: 1, maxLength: 5 }),
    wraps: fc.constantFrom(...around),
    edits: fc.array(
      fc.record({
        at: fc.nat(4),
        item: anyItem,
        wraps: fc.option(fc.constantFrom(...around), { freq: 3, nil: undefined }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  })
  .map(({ first, wraps, edits }) => {
    const texts = [wraps(first.join(""))];
    let list = first;
    for (const edit of edits) {
      list = list.map((item, index) => (index === edit.at ? edit.item : item));
      texts.push((edit.wraps ?? wraps)(list.join("")));
    }
    return texts;
  });

test("what is known of a file as it was changes nothing but cost", async () => {
  await fc.assert(
    fc.asyncProperty(anyHistory, async (texts) => {
      const known = new KnownResources();
      for (const text of texts) {
        expect(shown(await decode(text, known))).toEqual(shown(await decode(text, new KnownResources())));
      }
    }),
    { numRuns: 400 },
  );
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
