import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { peerCommand } from "../../../../test/e2e/support/peers.ts";
import { type MetricRow, metricTable } from "../../src/observe/metric-table.ts";
import { referencesIn } from "../support/promql.ts";
import { CDS, node, RealMachine, resource } from "./real-machine.ts";

/** What Prometheus adds to every series. */
const TARGET_LABELS = ["job", "instance"];
const FUNCTIONS = ["sum", "min", "max", "rate", "increase", "changes", "histogram_quantile"];
const rulesFile = fileURLToPath(new URL("../../../../deploy/monitoring/xdskit-rules.yaml", import.meta.url));
const boardFile = fileURLToPath(new URL("../../../../deploy/monitoring/grafana-board.json", import.meta.url));
const guideFile = fileURLToPath(new URL("../../../../docs/guides/monitoring.md", import.meta.url));

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string };
}

interface Board {
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
  readonly annotations: { readonly list: readonly { readonly expr: string }[] };
  readonly templating: { readonly list: readonly { readonly query: string }[] };
}

const rules = (
  parse(readFileSync(rulesFile, "utf8")) as { groups: readonly { rules: readonly Rule[] }[] }
).groups.flatMap((group) => group.rules);
const board = JSON.parse(readFileSync(boardFile, "utf8")) as Board;

let world: RealMachine;
let series: readonly { readonly name: string; readonly labels: ReadonlyMap<string, string> }[];

/** A server at which what the rules look for has happened. */
beforeEach(async () => {
  world = new RealMachine();
  world.commit([{ layer: "base", puts: [resource(CDS, "a")] }]);
  const stream = world.open();
  world.receive(stream, { kind: "delta", node: node("n1"), subscribe: ["*"] });
  world.commit([{ layer: "base", puts: [resource(CDS, "a", "new")] }]);
  world.receive(stream, { kind: "delta", nonce: world.lastNonce });
  world.receive(stream, { kind: "delta", nonce: world.lastNonce, error: { code: 13, message: "no" } });
  world.telemetry.report({ kind: "tls-refused", files: [], error: new Error("expired") }, new Date(world.now));
  const text = await world.metrics.scrape();
  series = [...text.matchAll(/^([a-z_]+)(?:\{(.*)\})? \S+$/gm)].map(([, name = "", labels = ""]) => ({
    name,
    labels: new Map([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = "", value = ""]) => [label, value])),
  }));
});

afterEach(() => world.metrics.close());

/** What an expression asks for that no server has. */
function mistakesIn(expression: string, more: readonly string[] = []): readonly string[] {
  const { selectors, labels, functions } = referencesIn(expression);
  const found = functions.filter((name) => !FUNCTIONS.includes(name)).map((name) => `there is no function ${name}`);
  const known = new Set<string>([...TARGET_LABELS, ...more]);
  for (const { metric, matchers } of selectors) {
    const of = metric === "up" ? [] : labelsOf(metric);
    if (of === undefined) found.push(`there is no metric ${metric}`);
    for (const label of of ?? []) known.add(label);
    for (const { label, operator, value } of matchers) {
      if (TARGET_LABELS.includes(label)) continue;
      if (of?.includes(label) !== true) found.push(`${metric} has no label ${label}`);
      const values = operator === "=~" ? value.split("|") : [value];
      for (const one of values) if (!hasSeries(metric, label, one)) found.push(`no ${metric} has ${label}="${one}"`);
    }
  }
  return [...found, ...labels.filter((label) => !known.has(label)).map((label) => `nothing has the label ${label}`)];
}

/** The labels of a metric, or of a part of a histogram; undefined: there is no such metric. */
function labelsOf(metric: string): readonly string[] | undefined {
  const rows = new Map<string, MetricRow>(Object.entries(metricTable));
  const plain = rows.get(metric);
  if (plain !== undefined && plain.kind !== "histogram") return plain.labels;
  const family = rows.get(metric.replace(/_(bucket|sum|count)$/, ""));
  if (plain !== undefined || family === undefined) return undefined;
  return metric.endsWith("_bucket") ? [...family.labels, "le"] : family.labels;
}

function hasSeries(metric: string, label: string, value: string): boolean {
  return series.some(({ name, labels }) => name === metric && labels.get(label) === value);
}

describe("alert rules", () => {
  test.each(rules.map((rule) => [rule.alert, rule] as const))("%s asks for what there is", (_, { expr }) => {
    expect(mistakesIn(expr)).toEqual([]);
  });

  test("have names of their own, a severity, and texts whose labels the expression leaves", () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
    for (const { alert, expr, labels, annotations } of rules) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(critical|warning|info)$/)]);
      const { selectors } = referencesIn(expr);
      const left = new Set([...TARGET_LABELS, ...selectors.flatMap(({ metric }) => labelsOf(metric) ?? [])]);
      for (const [, label = ""] of JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g))
        expect([alert, left.has(label)]).toEqual([alert, true]);
      expect([alert, annotations.summary, annotations.description]).not.toContain(undefined);
    }
  });

  test("are explained in the guide, each of them and no other", () => {
    const guide = readFileSync(guideFile, "utf8");
    const explained = [...guide.matchAll(/^\| `(Xds\w+)` \|/gm)].map(([, name]) => name);
    expect(explained).toEqual(rules.map(({ alert }) => alert));
  });

  const [promtool] = peerCommand("promtool") ?? [];

  test.skipIf(promtool === undefined)("promtool check rules finds nothing, where it is installed", () => {
    const { status, stdout, stderr } = spawnSync(promtool ?? "", ["check", "rules", rulesFile], { encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([0, expect.stringContaining(`SUCCESS: ${rules.length} rules found`), ""]);
  });
});

describe("the Grafana board", () => {
  test.each(board.panels.map((panel) => [panel.title, panel] as const))("%s shows what there is", (_, { targets }) => {
    for (const { expr, legendFormat } of targets) {
      expect([expr, mistakesIn(expr)]).toEqual([expr, []]);
      const shown = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
      const { selectors, labels } = referencesIn(expr);
      const kept =
        labels.length > 0 ? labels : [...TARGET_LABELS, ...selectors.flatMap(({ metric }) => labelsOf(metric) ?? [])];
      expect([expr, shown.filter((label) => !kept.includes(label))]).toEqual([expr, []]);
    }
  });

  test("marks revisions, and chooses servers by a metric that each has", () => {
    expect(board.annotations.list.flatMap(({ expr }) => mistakesIn(expr))).toEqual([]);
    const asked = board.templating.list.flatMap(({ query }) => /^label_values\((\w+)/.exec(query)?.[1] ?? []);
    expect(asked.map(labelsOf)).toEqual([metricTable.xds_server_info.labels, metricTable.xds_server_info.labels]);
  });

  test("panels have ids of their own, and do not cover each other", () => {
    expect(new Set(board.panels.map(({ id }) => id)).size).toBe(board.panels.length);
    const cells = board.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
  });
});

test("a mistake in an expression is found", () => {
  expect(mistakesIn('xds_server_nodes{state="gone"} > 0')).toEqual(['no xds_server_nodes has state="gone"']);
  expect(mistakesIn("sum by (kind) (rate(xds_server_node[5m]))")).toEqual([
    "there is no metric xds_server_node",
    "nothing has the label kind",
  ]);
  expect(mistakesIn("histogram_quantile(0.9, xds_server_propagation_seconds)")).toEqual([
    "there is no metric xds_server_propagation_seconds",
  ]);
  expect(() => referencesIn("sum(xds_server_nodes")).toThrow("brackets do not match");
});
