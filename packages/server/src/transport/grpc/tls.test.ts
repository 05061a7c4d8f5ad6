import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Authority } from "../../../test/support/authority.ts";
import { TlsListener } from "./tls.ts";

test("a listener whose directory cannot be watched opens, and takes in new files when it looks at them", async () => {
  const { files, write } = ownFiles();
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

test("a connection that says nothing is closed after the time of a handshake", async () => {
  const listener = await TlsListener.open(
    ownFiles().files,
    { onSocket: () => undefined, onNotice: () => undefined, handshakeTimeoutMs: 50, protocols: ["http/1.1"] },
    { onReloaded: () => undefined, onRefused: () => undefined },
  );
  const { server } = listener;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const silent = connect((server.address() as AddressInfo).port, "127.0.0.1").resume();
  await once(silent, "close");
  listener.close();
  await new Promise((resolve) => server.close(resolve));
});

/** A certificate and its key in files of their own, and what writes others there. */
function ownFiles(): { readonly files: { readonly cert: string; readonly key: string }; readonly write: () => void } {
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
  return { files, write };
}
