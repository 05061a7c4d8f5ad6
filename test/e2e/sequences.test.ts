import { join } from "node:path";
import { expect, test } from "vitest";
import { deliveries } from "./support/admin.ts";
import { type Envoy, startEnvoy } from "./support/envoy.ts";
import { startHttpBackend } from "./support/http-backend.ts";
import { type HttpLoad, startHttpLoad } from "./support/http-load.ts";
import { clusterNames, onlyCluster, routeTo, swapTo } from "./support/loaded-envoy.ts";
import { configSource, type Mode, modes } from "./support/mode.ts";
import { describeWith, root } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { type RecordingProxy, type Said, startRecordingProxy } from "./support/recording-proxy.ts";
import { listener } from "./support/resource.ts";
import { putPicture, sequenceDiagram } from "./support/sequence-diagram.ts";
import { startXdsServer, type XdsServer } from "./support/server.ts";
import { createSite, type Site } from "./support/site.ts";
import { createStack, type Stack } from "./support/stack.ts";
import { until, watchFor } from "./support/wait.ts";

// Records what Envoy and the server send each other while a cluster is replaced. `npm run pictures` writes the
// recordings into the guide.

const GUIDE = join(root, "docs/guides/changes-without-loss.md");

describeWith("envoy", "Envoy", () => {
  test.each(modes.map((mode) => [mode.name, mode] as const))("a swap, in order (%s)", async (name, mode) => {
    await using stack = createStack();
    const scene = await startScene(stack, mode);
    scene.edit("replace cluster blue by green, and point the route at it", swapTo(mode, "green", scene.greenPort));
    await scene.load.answeredBy("green", 5_000);
    await onlyCluster(scene, "green");
    const said = await scene.settled();
    expect(orderOf(said)).toEqual(["edit", "green given", "its endpoints", "route sent", "blue removed"]);
    draw(`swap, ${name}`, said);
  });

  test.each(modes.map((mode) => [mode.name, mode] as const))("only what changed is sent (%s)", async (_, mode) => {
    await using stack = createStack();
    const scene = await startScene(stack, mode);
    const other = listener({ name: "other", port: await freePort(), routes: "routes", source: configSource(mode) });
    scene.edit("add a listener", { "other.json": [other] });
    await until({ says: "Envoy has it", withinMs: 3_000 }, async () => {
      return (await scene.envoy.stats())("listener_manager.total_listeners_active") === 2;
    });
    scene.edit("change a route", { "routes.json": [{ ...routeTo("blue"), response_headers_to_remove: ["x"] }] });
    const said = (await scene.settled()).flatMap((one) => (one.by === "server" ? [`${one.type} ${one.names}`] : []));
    const isWhole = mode.apiType === "GRPC";
    expect(said).toEqual([isWhole ? "lds http,other" : "lds other", "rds routes"]);
  });

  test("a renamed cluster", async () => {
    await using stack = createStack();
    const [mode] = modes as [Mode];
    const scene = await startScene(stack, mode);
    scene.edit("rename cluster blue to green", swapTo(mode, "green", scene.bluePort));
    await onlyCluster(scene, "green");
    const said = await scene.settled();
    expect(orderOf(said)).toEqual(["edit", "green given", "its endpoints", "route sent", "blue removed"]);
    draw("rename, ads-delta", said);
  });

  test("a route that Envoy rejects midway", async () => {
    await using stack = createStack();
    const [mode] = modes as [Mode];
    const scene = await startScene(stack, mode);
    const refused = [{ ...routeTo("green"), virtual_hosts: [{ name: "all", domains: ["*"], routes: [BAD_ROUTE] }] }];
    const files = swapTo(mode, "green", scene.greenPort);
    scene.edit("replace cluster blue by green, and break the route", { ...files, "routes.json": refused });
    await until({ says: "Envoy rejects the route", withinMs: 3_000 }, async () =>
      (await deliveries(scene.server)).some(({ shortName, state }) => shortName === "rds" && state === "nacked"),
    );
    await watchFor(500);
    expect(await clusterNames(scene.envoy)).toEqual(["blue", "green"]);
    scene.edit("fix the route", { "routes.json": [routeTo("green")] });
    await scene.load.answeredBy("green", 5_000);
    await onlyCluster(scene, "green");
    const said = await scene.settled();
    expect(orderOf(said)).toEqual([
      ...["edit", "green given", "its endpoints", "route sent", "route refused"],
      ...["edit", "route sent", "blue removed"],
    ]);
    draw("refused route, ads-delta", said);
  });

  test("the same swap with make before break off", async () => {
    await using stack = createStack();
    const [mode] = modes as [Mode];
    const scene = await startScene(stack, mode, ["--no-make-before-break"]);
    scene.edit("replace cluster blue by green, and point the route at it", swapTo(mode, "green", scene.greenPort));
    await scene.load.answeredBy("green", 5_000);
    const said = await scene.settled();
    expect(orderOf(said).slice(0, 2)).toEqual(["edit", "green given, blue removed"]);
    draw("without the order, ads-delta", said);
  });
});

/** An invalid regular expression that only RE2 detects. */
const BAD_ROUTE = { match: { safe_regex: { regex: "a{1001}" } }, route: { cluster: "green" } };

interface Scene {
  readonly server: XdsServer;
  readonly envoy: Envoy;
  readonly load: HttpLoad;
  readonly bluePort: number;
  readonly greenPort: number;
  /** Writes files, and notes it in the recording. */
  edit(text: string, files: Parameters<Site["write"]>[0]): void;
  /** Returns what was sent since the first edit, once nothing more follows. */
  settled(): Promise<readonly Said[]>;
}

/** Starts requests to the cluster blue through an Envoy, and records its stream from then on. */
async function startScene(stack: Stack, mode: Mode, flags: readonly string[] = []): Promise<Scene> {
  let proxy: RecordingProxy | undefined;
  let hasMoved = false;
  const blue = stack.use(await startHttpBackend("blue"));
  const green = stack.use(
    await startHttpBackend("green", () => {
      if (!hasMoved) proxy?.note({ by: "requests", text: "a request reaches green" });
      hasMoved = true;
    }),
  );
  const port = await freePort();
  const http = listener({ name: "http", port, routes: "routes", source: configSource(mode) });
  const site = stack.use(createSite({ ...swapTo(mode, "blue", blue.port), "listeners.json": [http] }));
  const server = stack.use(await startXdsServer({ site, flags }));
  const recording = stack.use(await startRecordingProxy(server.port));
  proxy = recording;
  const envoy = stack.use(await startEnvoy({ mode, xdsPort: recording.port }));
  await envoy.ready(5_000);
  const load = stack.use(startHttpLoad({ port, keptPerSecond: 200, newPerSecond: 0 }));
  await load.answeredBy("blue", 5_000);
  const settled = async (): Promise<readonly Said[]> => {
    let count = -1;
    await until({ says: "nobody says anything more", withinMs: 5_000, everyMs: 300 }, () => {
      const isQuiet = count === recording.said.length;
      count = recording.said.length;
      return isQuiet;
    });
    return recording.take();
  };
  await settled();
  return {
    ...{ server, envoy, load, settled, bluePort: blue.port, greenPort: green.port },
    edit(text, files) {
      recording.note({ by: "operator", text });
      site.write(files);
    },
  };
}

/** The steps of a swap of blue for green, in order; immediate repetitions count once. */
function orderOf(said: readonly Said[]): readonly string[] {
  let hasBlue = true;
  const steps = said.flatMap((one): readonly string[] => {
    if (one.by === "operator") return ["edit"];
    if (one.by === "client") return one.type === "rds" && one.answer === "NACK" ? ["route refused"] : [];
    if (one.by !== "server") return [];
    const { type, names, removed, isWhole, empty } = one;
    if (type === "rds") return ["route sent"];
    const isGreen = names.includes("green");
    if (type === "eds" && isGreen) return empty.includes("green") ? ["no endpoints"] : ["its endpoints"];
    if (type !== "cds") return [];
    const isBlueGone = hasBlue && (isWhole ? !names.includes("blue") : removed.includes("blue"));
    if (isBlueGone) hasBlue = false;
    if (isBlueGone) return isGreen && !isWhole ? ["green given, blue removed"] : ["blue removed"];
    return isGreen ? ["green given"] : [];
  });
  return steps.filter((step, index) => step !== steps[index - 1]);
}

function draw(name: string, said: readonly Said[]): void {
  if (process.env["XDS_E2E_PICTURES"] === "write") putPicture(GUIDE, name, sequenceDiagram(said));
}
