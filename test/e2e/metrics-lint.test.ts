import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { startEnvoy } from "./support/envoy.ts";
import { adsDelta } from "./support/mode.ts";
import { describeWith, peerCommand } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { cluster, endpoints, listener, routes } from "./support/resource.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";

/** What `promtool check metrics` says of a text, and its exit code. */
function lint(metrics: string): { readonly status: number | null; readonly output: string } {
  const [program = "promtool"] = peerCommand("promtool") ?? [];
  const { status, stdout, stderr } = spawnSync(program, ["check", "metrics"], { input: metrics, encoding: "utf8" });
  return { status, output: stdout + stderr };
}

describeWith("promtool", "promtool", () => {
  test("S-OBS-02 finds nothing in the metrics of a server with clients", async () => {
    await using stack = createStack();
    const site = stack.use(
      createSite({
        "web.json": [
          cluster({ name: "web" }),
          endpoints("web", [9]),
          listener({ name: "http", port: await freePort(), routes: "routes" }),
          routes("routes", [{ cluster: "web" }]),
        ],
      }),
    );
    const server = stack.use(await startXdsServer({ site }));
    const envoy = stack.use(await startEnvoy({ mode: adsDelta, xdsPort: server.port }));
    await envoy.ready(30_000);
    const metrics = await (await fetch(`http://127.0.0.1:${server.adminPort}/metrics`)).text();
    expect(metrics).toContain("xds_server_event_loop_lag_seconds");
    expect(lint(metrics)).toEqual({ status: 0, output: "" });
  });

  test("notices a counter without _total", () => {
    expect(lint("# HELP naps Naps.\n# TYPE naps counter\nnaps 1\n")).toEqual({
      status: 3,
      output: 'naps counter metrics should have "_total" suffix\n',
    });
  });
});
