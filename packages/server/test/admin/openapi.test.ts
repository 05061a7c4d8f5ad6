import type { ClientState } from "@xdskit/protocol/internal";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ProgressAnswer } from "../../src/index.ts";
import { type ApiDocument, mismatches, operationOf } from "../support/json-schema.ts";
import { CDS, EDS, node, RDS, RealMachine, resource } from "./real-machine.ts";

let world: RealMachine;
let root = "";
let document: ApiDocument;

beforeEach(async () => {
  world = new RealMachine();
  const listening = await world.admin.start();
  root = `http://127.0.0.1:${listening?.port}`;
  document = (await (await fetch(`${root}/api/v1/openapi.json`)).json()) as ApiDocument;
});

afterEach(async () => {
  await world.admin.close();
  world.metrics.close();
});

async function ask(target: string): Promise<{ status: number; wrong: readonly string[]; value: unknown }> {
  const reply = await fetch(root + target);
  const value: unknown = await reply.json();
  return { status: reply.status, wrong: mismatches(document, target, reply.status, value), value };
}

/** The choices of the members and parameters with these names, by the schema or path in which they are. */
function* choicesIn(
  { paths, components }: ApiDocument,
  names: readonly string[],
): Iterable<[string, readonly string[]]> {
  const isChoice = (schema: unknown): schema is { enum: readonly string[] } => Object(schema).enum !== undefined;
  const found: [string, string, unknown][] = Object.entries(paths).flatMap(([path, item]) =>
    operationOf(item).parameters.map(({ name, schema }): [string, string, unknown] => [path, name, schema]),
  );
  const look = (where: string, schema: unknown): void => {
    if (typeof schema === "string") return;
    for (const [name, member] of Object.entries(Object(schema))) {
      found.push([where, name, member]);
      look(where, member);
    }
  };
  for (const [name, schema] of Object.entries(components.schemas)) look(name, schema);
  for (const [where, name, schema] of found) if (names.includes(name) && isChoice(schema)) yield [where, schema.enum];
}

/** These are held against the document in `revisions.test.ts`. */
const needsLedger = (path: string): boolean => /v1\/(?:revisions|diff|plan|approve|reject|rollback|store)/.test(path);

test("the document has each route of the index, with each of its parameters", async () => {
  const index = await (await fetch(root)).text();
  const routes: string[] = [];
  for (const [, path, parameter] of index.matchAll(/^ {2}(?:POST )?(\/\S+)|^ {6}\?(\S+?)= /gm))
    routes.push(path ?? `${routes.findLast((route) => !route.includes("?"))}?${parameter}`);
  const described = Object.entries(document.paths).flatMap(([path, item]) => [
    path,
    ...operationOf(item)
      .parameters.filter((parameter) => parameter.in === "query")
      .map(({ name }) => `${path}?${name}`),
  ]);
  expect(described.length).toBeGreaterThan(30);
  expect(described).toEqual(routes);
  const progress = document.paths["/api/v1/progress/{revision}"];
  const [revision] = progress === undefined ? [] : operationOf(progress).parameters;
  expect(revision).toMatchObject({ name: "revision", in: "path", required: true });
});

test("operations have names of their own, and every reference leads somewhere", () => {
  const operations = Object.values(document.paths).map((item) => operationOf(item).operationId);
  expect(new Set(operations).size).toBe(operations.length);
  expect(operations).toContain("getProgressByRevision");
  const named = new Set(Object.keys(document.components.schemas).map((name) => `#/components/schemas/${name}`));
  const references = JSON.stringify(document).match(/(?<="\$ref":")[^"]+/g) ?? [];
  expect(references.filter((reference) => !named.has(reference))).toEqual([]);
});

test("a parameter takes what the document says, and nothing else", async () => {
  const taken: string[] = [];
  const needed = new Map([
    ["/api/v1/node-resources", "node=n1&"],
    ...["holders", "graph", "access"].map((name) => [`/api/v1/${name}`, "type=cds&"] as const),
  ]);
  world.receive(world.open(), { kind: "delta", type: CDS, node: node("n1"), subscribe: ["*"] });
  for (const [path, item] of Object.entries(document.paths)) {
    if (needsLedger(path)) continue;
    for (const { name, in: where, schema } of operationOf(item).parameters) {
      if (where === "path" || schema["type"] === "array") continue;
      const isText = schema["type"] === "string" && schema["enum"] === undefined;
      // A node that is asked for may not be connected, a type or a layer may not exist: but no text is malformed.
      const target = `${path.replace("{revision}", "head")}?${name === "node" ? "" : (needed.get(path) ?? "")}${name}=no-such-thing`;
      const { status } = await fetch(root + target);
      if ((status === 400) === (isText && name !== "at")) taken.push(`${target} was answered ${status}`);
    }
  }
  // Of a type that does not exist the API says so with 400 as well, and so it does of a revision that is no number.
  const isAboutMore = (line: string): boolean => /[?&]type=no|[?&](?:has|lacks)=/.test(line);
  expect(taken.filter((line) => !isAboutMore(line))).toEqual([]);
});

test("every answer is as the document says", async () => {
  const full = world.open();
  world.commit([{ layer: "base", puts: [resource(CDS, "a"), resource(RDS, "r", "r", [{ type: CDS, name: "a" }])] }]);
  const about = node("n1", { locality: { region: "eu", zone: "one", subZone: "" }, metadata: { stage: "x" } });
  world.receive(full, { kind: "delta", type: CDS, node: about, subscribe: ["*"] });
  world.receive(full, { kind: "delta", type: CDS, nonce: world.lastNonce });
  world.receive(full, { kind: "delta", type: EDS, subscribe: ["absent"] });
  const refusing = world.open("sotw");
  world.receive(refusing, { kind: "sotw", type: CDS, node: node("n2") });
  const error = { code: 3, message: "no" };
  world.receive(refusing, { kind: "sotw", type: CDS, nonce: world.lastNonce, versionInfo: "", error });
  const lost = world.open();
  world.receive(lost, { kind: "delta", type: CDS, node: node("n3"), subscribe: ["*"] });
  world.close(lost);
  world.open();
  const problem = { severity: "error", file: "a.yaml", line: 3, message: "expected x" } as const;
  const related = { file: "b.yaml", line: 1 };
  const omitted = { errors: 1, warnings: 2 };
  world.findings.set("x", {
    layer: "base",
    type: CDS,
    name: "a",
    findings: [{ code: "VERSION_LOSS", severity: "warning", path: ["b", "c"], message: "lost" }],
  });
  await world.nodePast.sweep();
  world.place = { file: "clusters.yaml", line: 7 };
  const since = new Date(world.now);
  world.source = { state: "failed", problems: [{ code: "NAME_TAKEN", ...problem, related, omitted }], since };

  const isJson = (path: string): boolean => !["/livez", "/metrics", "/api/v1/events"].includes(path);
  const targets = Object.keys(document.paths).filter((path) => isJson(path) && !needsLedger(path));
  const more = [
    "/api/v1/resources?body=true&limit=1",
    "/api/v1/progress/1",
    "/api/v1/progress/source",
    "/api/v1/progress/999",
    "/api/v1/nodes?unknown=1",
    "/api/v1/nodes?nacked=true",
    "/api/v1/node-resources?node=n1&body=true",
    "/api/v1/node-resources?node=n2&type=cds",
    "/api/v1/nodes/n2/history",
    "/api/v1/nodes/n2/history?at=2026-01-01T00:00:00Z",
    "/api/v1/holders?type=cds&name=a",
    "/api/v1/graph?type=cds&name=a",
    "/api/v1/access?identity=tls&node=n1&type=cds&name=a",
  ];
  const answers = new Map<string, number>();
  const nodeResources = "/api/v1/node-resources";
  for (const target of [...targets.map((path) => path.replace("{revision}", "head")), ...more]) {
    const { status, wrong } = await ask(target);
    expect([target, wrong]).toEqual([target, []]);
    answers.set(target, status);
  }
  expect(Object.fromEntries(answers)).toEqual({
    ...Object.fromEntries([...answers.keys()].map((target) => [target, 200])),
    [nodeResources]: 400,
    "/api/v1/graph": 400,
    "/api/v1/holders": 400,
    "/api/v1/progress/source": 409,
    "/api/v1/progress/999": 404,
    "/api/v1/nodes?unknown=1": 400,
  });
  world.readiness = { isReady: false, isDraining: false, reasons: ["no"] };
  expect(await ask("/readyz")).toMatchObject({ status: 503, wrong: [] });
});

test("what stands at clients has one set of words, in answers and in parameters", () => {
  const words: Readonly<Record<ClientState, true>> = {
    ...{ requested: true, "not-sent": true, waiting: true, pending: true, sent: true, acked: true, nacked: true },
    ...{ "does-not-exist": true, "received-error": true, timeout: true, unknown: true },
  };
  const others = [...choicesIn(document, ["state", "status"])]
    .map(([where, choices]) => [where, choices.filter((choice) => !(choice in words))] as const)
    .filter(([, choices]) => choices.length > 0);
  expect(Object.fromEntries(others)).toEqual({
    Holder: ["not-subscribed"],
    Progress: ["deployed", "too-few-nodes"],
    Source: ["loading", "good", "failed"],
    Stragglers: ["removal"],
  });
});

test("an answer that is not as the document says is noticed", () => {
  const ready = { ready: true, draining: false, reasons: [] };
  expect(mismatches(document, "/readyz", 200, ready)).toEqual([]);
  expect(mismatches(document, "/readyz", 200, { ...ready, draining: 1, more: 2 })).toEqual([
    "/readyz.draining: expected boolean, got 1",
    "/readyz.more is not in the document",
  ]);
  expect(mismatches(document, "/readyz", 200, { ready: true, draining: false })).toEqual(["/readyz: no reasons"]);
});

test("a rejection has the place of what it is about", async () => {
  world.place = { file: "clusters.yaml", line: 7 };
  const puts = ["a", "b", "c", "d", "e", "f", "g"].map((name) => resource(CDS, name));
  world.commit([{ layer: "base", puts }]);
  const reject = async (message: string): Promise<unknown> => {
    const stream = world.open("sotw");
    world.receive(stream, { kind: "sotw", type: CDS, node: node("n1") });
    const error = { code: 3, message };
    world.receive(stream, { kind: "sotw", type: CDS, nonce: world.lastNonce, versionInfo: "", error });
    const { nacked } = (await (await fetch(`${root}/api/v1/progress/head`)).json()) as ProgressAnswer;
    world.close(stream);
    return nacked.nodes[0]?.types[0]?.places;
  };
  const at = (name: string) => ({ name, file: "clusters.yaml", line: 7 });
  expect(await reject("cluster f: no")).toEqual([at("f")]);
  expect(await reject("???")).toEqual(["a", "b", "c", "d", "e"].map(at));
  world.place = undefined;
  expect(await reject("cluster f: no")).toBeUndefined();
});
