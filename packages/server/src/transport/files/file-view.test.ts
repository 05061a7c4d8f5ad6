import { createEnvoyApi } from "@xdskit/envoy-api";
import { formatTypeUrl, type Reference } from "@xdskit/protocol";
import { expect, test } from "vitest";
import { FileLayout } from "./file-layout.ts";
import { type FileContent, type FileResource, FileView } from "./file-view.ts";

const CDS = formatTypeUrl("envoy.config.cluster.v3.Cluster");
const EDS = formatTypeUrl("envoy.config.endpoint.v3.ClusterLoadAssignment");
const RDS = formatTypeUrl("envoy.config.route.v3.RouteConfiguration");
const LDS = formatTypeUrl("envoy.config.listener.v3.Listener");
const layout = new FileLayout(createEnvoyApi(), "yaml", "v3");

let sums = 0n;
function resource(type: Reference["type"], name: string, ...references: readonly Reference[]): FileResource {
  return { type, name, bytes: new Uint8Array(), sum: ++sums, references };
}

/** A view of which every type was answered. */
function answeredView(): FileView {
  const view = new FileView(layout);
  for (const { type } of layout.types) view.answer(type);
  return view;
}

/** Writes what is to be written, and says what, group by group. */
function write(view: FileView): readonly (readonly string[])[] {
  const groups = view.changes();
  for (const content of groups.flat()) view.written(content);
  return groups.map((group) => group.map(describe));
}

function describe({ type, name, resources }: FileContent): string {
  return `${layout.pathOf(type, name)}: ${resources.map((each) => each.name).join(" ")}`;
}

const endpointsOf = (name: string): Reference => ({ type: EDS, name });
const routesOf = (name: string): Reference => ({ type: RDS, name });

test("what is named is written before what names it", () => {
  const view = answeredView();
  view.put(resource(LDS, "l", routesOf("r")));
  view.put(resource(RDS, "r", { type: CDS, name: "c" }));
  view.put(resource(CDS, "c", endpointsOf("c")));
  view.put(resource(EDS, "c"));
  expect(write(view)).toEqual([
    ["eds/c.yaml: c"],
    ["cds.yaml: c"],
    ["rds/r.yaml: r"],
    ["srds.yaml: "],
    ["lds.yaml: l"],
  ]);
  expect(write(view)).toEqual([]);
});

test("a resource waits for what it names, and what was there under its name stays", () => {
  const view = answeredView();
  view.put(resource(CDS, "c", endpointsOf("old")));
  view.put(resource(EDS, "old"));
  write(view);
  const changed = resource(CDS, "c", endpointsOf("new"));
  view.put(changed);
  view.put(resource(CDS, "other"));
  expect(view.unknownNames()).toEqual([endpointsOf("new")]);
  expect(write(view)).toEqual([["cds.yaml: c other"]]);
  expect([view.isInForce(CDS, "c"), view.isInForce(CDS, "other")]).toEqual([false, true]);
  view.put(resource(EDS, "new"));
  expect(write(view)).toEqual([["eds/new.yaml: new"], ["cds.yaml: c other"]]);
  expect(view.isInForce(CDS, "c")).toBe(true);
});

test("a name that does not exist is an empty file while something names it, and then none", () => {
  const view = answeredView();
  view.put(resource(LDS, "l", routesOf("r")));
  expect(write(view)).toEqual([["cds.yaml: "], ["srds.yaml: "]]);
  view.remove(RDS, "r");
  expect(write(view)).toEqual([["rds/r.yaml: "], ["lds.yaml: l"]]);
  expect(view.unused()).toEqual([]);
  view.put(resource(LDS, "l"));
  write(view);
  expect(view.unused().map(describe)).toEqual(["rds/r.yaml: "]);
});

test("what is gone stays in its file while something in files names it", () => {
  const view = answeredView();
  view.put(resource(CDS, "c", endpointsOf("c")));
  view.put(resource(EDS, "c"));
  write(view);
  view.remove(EDS, "c");
  expect([write(view), view.unused()]).toEqual([[], []]);
  expect(view.emptied().map(describe)).toEqual(["eds/c.yaml: "]);
  view.remove(CDS, "c");
  expect(write(view)).toEqual([["cds.yaml: "]]);
  expect(view.unused().map(describe)).toEqual(["eds/c.yaml: "]);
});

/** A view whose files have a listener that was removed, and not yet the one that came with its removal. */
function viewWithSuccessor(): ReturnType<typeof answeredView> {
  const view = answeredView();
  view.put(resource(LDS, "old", routesOf("old")));
  view.put(resource(RDS, "old"));
  write(view);
  view.remove(LDS, "old", ["new"]);
  view.put(resource(LDS, "new", routesOf("new")));
  return view;
}

test("what is removed stays until what came with its removal is ready", () => {
  const view = viewWithSuccessor();
  expect(write(view)).toEqual([]);
  expect(view.isInForce(LDS, "old")).toBe(false);
  view.put(resource(RDS, "new"));
  expect(write(view)).toEqual([["rds/new.yaml: new"], ["lds.yaml: new"]]);
  expect(view.isInForce(LDS, "old")).toBe(true);
});

test("what is removed stays when what came with its removal is replaced before it is ready", () => {
  const view = viewWithSuccessor();
  view.remove(LDS, "new", ["newer"]);
  view.put(resource(LDS, "newer", routesOf("newer")));
  expect(write(view)).toEqual([]);
  view.put(resource(RDS, "newer"));
  expect(write(view)).toEqual([["rds/newer.yaml: newer"], ["lds.yaml: newer"]]);
});

test("very many removals beside an arrival that is not ready stay in their file", () => {
  const view = answeredView();
  const names = Array.from({ length: 130_000 }, (_, i) => `c${i}`);
  for (const name of names) view.put(resource(CDS, name));
  write(view);
  const arrivals = ["new"];
  for (const name of names) view.remove(CDS, name, arrivals);
  view.put(resource(CDS, "new", endpointsOf("new")));
  expect(write(view)).toEqual([]);
});

test("what files held before stays until it is let go", () => {
  const view = answeredView();
  view.hold(resource(CDS, "before"));
  view.put(resource(CDS, "c"));
  expect(write(view)[0]).toEqual(["cds.yaml: before c"]);
  view.letGo();
  expect(write(view)).toEqual([["cds.yaml: c"]]);
});

test("after a failure everything is written again", () => {
  const view = answeredView();
  view.put(resource(CDS, "c", endpointsOf("c"), endpointsOf("none")));
  view.put(resource(EDS, "c"));
  view.remove(EDS, "none");
  const first = write(view);
  view.doubt();
  expect(write(view).flat().sort()).toEqual(first.flat().sort());
});
