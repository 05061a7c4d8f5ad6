import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CDS, EDS, LDS, node, RDS, RealMachine, resource, SRDS } from "./real-machine.ts";

const MAX_BYTES = 150_000;

let world: RealMachine;
let origin = "";

beforeAll(async () => {
  world = new RealMachine();
  origin = `http://127.0.0.1:${(await world.admin.start())?.port}`;
});

afterAll(async () => {
  await world.admin.close();
  world.metrics.close();
});

describe("/console/", () => {
  const policy = [
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'",
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "require-trusted-types-for 'script'; trusted-types 'none'",
  ].join("; ");

  test("is a page that may load only its own files, of at most 150 kB compressed", async () => {
    const page = await fetch(`${origin}/console/`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
    const html = await page.text();
    expect(html).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
    const files = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].flatMap(([, file]) => file ?? []);
    expect(files.map((file) => file.replace(/-[\w-]{8}\./, "."))).toEqual([
      "icon.svg",
      "assets/index.js",
      "assets/index.css",
    ]);
    let bytes = Number(page.headers.get("content-length") ?? 0);
    for (const file of ["", ...files]) {
      const { headers, status } = await fetch(`${origin}/console/${file}`, { method: "GET" });
      const isAsset = file.startsWith("assets/");
      expect([file, status, headers.get("content-security-policy"), headers.get("content-encoding")]).toEqual([
        ...[file, 200, policy, "gzip"],
      ]);
      expect([file, headers.get("cache-control")]).toEqual([
        file,
        isAsset ? "private, max-age=31536000, immutable" : "no-store",
      ]);
      bytes += Number(headers.get("content-length"));
    }
    expect(bytes).toBeGreaterThan(0);
    expect(bytes).toBeLessThan(MAX_BYTES);
  });

  test.each([
    ["gzip", "gzip"],
    ["br, gzip;q=0.5", "gzip"],
    ["gzip;q=0", null],
    ["identity", null],
  ])("is compressed for who takes that: %s", async (accepted, encoding) => {
    const { status, headers } = await fetch(`${origin}/console/`, { headers: { "accept-encoding": accepted } });
    expect([status, headers.get("content-encoding")]).toEqual([200, encoding]);
  });

  test("is where a browser is led, by relative links that a path prefix does not break", async () => {
    const moved = await fetch(`${origin}/console`, { redirect: "manual" });
    expect([moved.status, moved.headers.get("location")]).toEqual([308, "./console/"]);
    const index = await fetch(`${origin}/`, { headers: { accept: "text/html" } });
    expect(await index.text()).toContain('<a href="./console/">');
  });

  test.each(["nothing", "../package.json", "%2e%2e/package.json", "assets/", "assets/..%2f..%2fpackage.json"])(
    "has nothing at %s",
    async (path) => {
      const { status, headers } = await fetch(`${origin}/console/${path}`);
      expect([status, headers.get("content-type")]).toEqual([404, "application/json"]);
    },
  );
});

async function ask(path: string): Promise<unknown> {
  return await (await fetch(`${origin}/api/v1/${path}`)).json();
}

test("/api/v1/graph has what a resource refers to and what refers to it; missing names are marked", async () => {
  world.commit([
    {
      layer: "base",
      puts: [
        resource(RDS, "r", "r", [{ type: CDS, name: "c" }]),
        resource(RDS, "other", "other", [{ type: CDS, name: "elsewhere" }]),
        resource(CDS, "c", "c", [{ type: EDS, name: "e" }]),
      ],
    },
  ]);
  expect(await ask("graph?type=cds&name=c")).toEqual({
    nodes: [
      { type: CDS, shortName: "cds", name: "c", layer: "base" },
      { type: EDS, shortName: "eds", name: "e", missing: true },
      { type: RDS, shortName: "rds", name: "r", layer: "base" },
    ],
    edges: [
      { from: 0, to: 1 },
      { from: 2, to: 0 },
    ],
  });
  expect(await ask("graph?type=cds")).toEqual({ error: "type and name are required" });
});

test("/api/v1/graph leads from a listener with scopes to each of them", async () => {
  const listener = resource(LDS, "scoped", "l", [{ type: SRDS, name: "*" }]);
  const layer = "scopes";
  world.commit([{ layer, puts: [listener] }]);
  expect(await ask("graph?type=lds&name=scoped")).toEqual({
    nodes: [
      { type: LDS, shortName: "lds", name: "scoped", layer },
      { type: SRDS, shortName: "srds", name: "*", missing: true },
    ],
    edges: [{ from: 0, to: 1 }],
  });
  world.commit([{ layer, puts: ["a", "b"].map((name) => resource(SRDS, name, name)) }]);
  expect(await ask("graph?type=srds&name=a")).toEqual({
    nodes: [
      { type: SRDS, shortName: "srds", name: "a", layer },
      { type: LDS, shortName: "lds", name: "scoped", layer },
    ],
    edges: [{ from: 1, to: 0 }],
  });
  expect(await ask("graph?type=lds&name=scoped")).toEqual({
    nodes: [
      { type: LDS, shortName: "lds", name: "scoped", layer },
      { type: SRDS, shortName: "srds", name: "a", layer },
      { type: SRDS, shortName: "srds", name: "b", layer },
    ],
    edges: [
      { from: 0, to: 1 },
      { from: 0, to: 2 },
    ],
  });
});

test("/api/v1/holders has the version of a resource at every node, and looks only at the nodes of the page", async () => {
  const version = resource(CDS, "c", "c", [{ type: EDS, name: "e" }]).version;
  for (const id of ["h1", "h2", "h3"]) {
    const stream = world.open();
    world.receive(stream, { kind: "delta", type: CDS, node: node(id), ...(id === "h3" && { subscribe: ["x"] }) });
    if (id === "h1") world.receive(stream, { kind: "delta", nonce: world.lastNonce });
  }
  expect(await ask("holders?type=cds&name=c")).toEqual({
    items: [
      { node: "h1", status: "acked", version },
      { node: "h2", status: "pending", version },
      { node: "h3", status: "not-subscribed" },
    ],
    total: 3,
  });
  expect(await ask("holders?type=cds&name=c&limit=1&offset=1")).toEqual({
    items: [{ node: "h2", status: "pending", version }],
    total: 3,
    next: 2,
  });
});

test("/api/v1/resources finds names by a glob", async () => {
  const { items } = (await ask("resources?matches=*the*")) as { items: { name: string }[] };
  expect(items.map(({ name }) => name)).toEqual(["other"]);
});
