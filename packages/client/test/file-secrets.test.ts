import { mkdirSync, unlinkSync, writeFileSync } from "node:fs";
import { decodeSotwResponse } from "@xdskit/envoy-api/internal";
import { formatTypeUrl } from "@xdskit/protocol";
import { beforeEach, describe, expect, test } from "vitest";
import { followedFiles, type Opened, replace, staysSilent } from "./support/followed-files.ts";
import { request, SECRET, testApi } from "./support/sources.ts";

const { at, open } = followedFiles();

describe("C-FS-16 the files that a Secret names", () => {
  const secret = (data: object): object => ({ "@type": SECRET, name: "s", ...data });
  const tls = (): object => ({
    tlsCertificate: {
      certificateChain: { filename: at("keys", "tls.crt") },
      privateKey: { filename: at("keys", "tls.key") },
    },
  });

  async function followSecret(resource: object): Promise<Opened & { readonly first: Uint8Array }> {
    writeFileSync(at("sds.json"), JSON.stringify({ resources: [resource] }));
    const { stream, listener } = open(at("sds.json"), {}, SECRET);
    stream.send(request(SECRET), false);
    return { stream, listener, first: (await listener.next("response")).bytes };
  }

  const plain = (bytes: Uint8Array): unknown => testApi().toJson(SECRET, bytes);
  const bodies = (response: Uint8Array): readonly Uint8Array[] =>
    decodeSotwResponse(response).resources.map(({ value }) => value);

  beforeEach(() => {
    mkdirSync(at("keys"));
    writeFileSync(at("keys", "tls.crt"), "certificate 1");
    writeFileSync(at("keys", "tls.key"), "key 1");
  });

  test("a key that is replaced makes it another Secret, which says the same", async () => {
    const { first, ...opened } = await followSecret(secret(tls()));
    replace(at("keys", "tls.key"), "key 2");
    const second = (await opened.listener.next("response")).bytes;
    expect(Buffer.from(second).equals(first)).toBe(false);
    expect(bodies(second).map(plain)).toEqual([secret(tls())]);
    expect(bodies(first).map(plain)).toEqual([secret(tls())]);
    expect(Buffer.from(second).includes("key 2")).toBe(false);
    replace(at("keys", "tls.key"), "key 1");
    expect(Buffer.from((await opened.listener.next("response")).bytes).equals(first)).toBe(true);
  });

  test("wrapped", async () => {
    const wrapper = { "@type": formatTypeUrl("envoy.service.discovery.v3.Resource"), name: "s" };
    const { first, ...opened } = await followSecret({ ...wrapper, resource: secret(tls()) });
    writeFileSync(at("keys", "tls.crt"), "certificate 2");
    const second = (await opened.listener.next("response")).bytes;
    expect(Buffer.from(second).equals(first)).toBe(false);
    const [value] = bodies(second);
    const type = formatTypeUrl("envoy.service.discovery.v3.Resource");
    expect(testApi().toJson(type, value ?? new Uint8Array())).toEqual({ ...wrapper, resource: secret(tls()) });
  });

  test("one that comes and goes", async () => {
    const { listener } = await followSecret(secret(tls()));
    unlinkSync(at("keys", "tls.key"));
    await listener.next("response");
    writeFileSync(at("keys", "tls.key"), "key 2");
    await listener.next("response");
    expect(listener.kinds).toEqual(["opened", "response", "response", "response"]);
  });

  test("with a watched directory, what is moved there", async () => {
    const watching = { tlsCertificate: { ...Object.values(tls())[0], watchedDirectory: { path: at("keys") } } };
    const { first: _, ...opened } = await followSecret(secret(watching));
    writeFileSync(at("keys", "tls.key"), "key 2");
    await staysSilent(opened);
    replace(at("keys", "tls.crt"), "certificate 2");
    await opened.listener.next("response");
  });

  test("what names no files is what it was", async () => {
    const inline = { genericSecret: { secret: { inlineString: "x" } } };
    const { first } = await followSecret(secret(inline));
    const { bytes } = testApi().readMessage("envoy.extensions.transport_sockets.tls.v3.Secret", {
      name: "s",
      ...inline,
    });
    expect(bodies(first).map((value) => Buffer.from(value))).toEqual([Buffer.from(bytes ?? new Uint8Array())]);
  });
});
