import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createCertificate, shownCommonName } from "./support/certificate.ts";
import { startEnvoy } from "./support/envoy.ts";
import { httpGet } from "./support/http-load.ts";
import { note } from "./support/measure.ts";
import { adsModes, named } from "./support/mode.ts";
import { describeWith, root } from "./support/peers.ts";
import { freePort } from "./support/port.ts";
import { startXdsServer } from "./support/server.ts";
import { createSite } from "./support/site.ts";
import { createStack } from "./support/stack.ts";
import { until } from "./support/wait.ts";

/** The YAML blocks of the guide, by the file names before them. */
function filesOfGuide(): Readonly<Record<string, string>> {
  const guide = readFileSync(join(root, "docs/guides/secrets.md"), "utf8");
  const blocks = guide.matchAll(/^`config\/([\w.]+)`[^\n]*\n\n```yaml\n([\s\S]*?)```/gm);
  return Object.fromEntries([...blocks].map(([, file = "", text = ""]) => [file, text]));
}

describeWith("envoy", "the guide to certificates", () => {
  test.each(named(adsModes))("with a real Envoy over %s: PEM files by path, and their renewal", async (_, mode) => {
    await using stack = createStack();
    const [first, second] = [createCertificate("first.example"), createCertificate("second.example")];
    const port = await freePort();
    const { "listeners.yaml": listeners = "", ...files } = filesOfGuide();
    expect(Object.keys(files)).toEqual(["secrets.yaml"]);
    const site = stack.use(
      createSite({
        ...files,
        "listeners.yaml": listeners.replace("10443", String(port)),
        "certs/edge.pem": first.cert,
        "certs/edge.key": first.key,
      }),
    );
    const server = stack.use(await startXdsServer({ site }));
    const envoy = stack.use(await startEnvoy({ mode, xdsPort: server.port }));
    note("SDS by path", mode.name, "ready, ms", await envoy.ready(5_000));
    expect(await httpGet({ port, tls: true })).toEqual({ status: 200, body: "hello\n" });
    expect(await shownCommonName(port)).toBe("first.example");

    site.write({ "certs/edge.pem": second.cert });
    await until({ says: "half of the change is a problem", withinMs: 10_000 }, async () => {
      const { problems } = (await server.admin("/api/v1/source")) as { problems: readonly { code: string }[] };
      return problems.some(({ code }) => code === "SECRET_KEY_MISMATCH");
    });
    expect(await shownCommonName(port)).toBe("first.example");
    site.write({ "certs/edge.key": second.key });
    const { ms } = await until({ says: "the renewed certificate is in use", withinMs: 10_000 }, async () => {
      return (await shownCommonName(port)) === "second.example";
    });
    note("SDS by path", mode.name, "renewed, ms", ms);
  });
});
