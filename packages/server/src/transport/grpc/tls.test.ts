import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Authority } from "../../../test/support/authority.ts";
import { TlsListener } from "./tls.ts";

test("a listener whose directory cannot be watched opens, and takes in new files when it looks at them", async () => {
  const directory = mkdtempSync(join(tmpdir(), "xdskit-tls-"));
  const authority = new Authority("authority");
  onTestFinished(() => {
    authority[Symbol.dispose]();
    rmSync(directory, { recursive: true });
  });
  const files = { cert: join(directory, "own.crt"), key: join(directory, "own.key") };
  const write = (): void => {
    const { cert, key } = authority.issue("DNS:localhost");
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key);
  };
  write();
  const reloaded: (readonly string[])[] = [];
  const listener = await TlsListener.open(
    files,
    { onSocket: () => undefined, onNotice: () => undefined, handshakeTimeoutMs: 1_000, protocols: ["h2"] },
    { onReloaded: (paths) => reloaded.push(paths), onRefused: () => undefined },
    () => {
      throw new Error("ENOSPC: System limit for number of file watchers reached");
    },
  );
  write();
  await listener.reload();
  expect(reloaded).toEqual([[files.cert, files.key]]);
  listener.close();
});
