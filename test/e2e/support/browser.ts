import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { peerCommand } from "./peers.ts";
import { startProcess } from "./process.ts";

/** A browser that shows one page. */
export interface Browser extends AsyncDisposable {
  /** Its output, including the page's console. */
  log(): string;
}

/** Headless, without background networking or a lasting profile. */
const FLAGS = [
  "--headless",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--enable-logging=stderr",
];

/** Opens a page in Chromium. */
export async function openInBrowser(url: string): Promise<Browser> {
  const command = peerCommand("chromium");
  if (command === undefined) throw new Error("chromium is not installed");
  const profile = mkdtempSync(join(tmpdir(), "xds-e2e-chromium-"));
  // The sandbox does not start for root, and the page is our own.
  const sandbox = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  const started = await startProcess([...command, ...FLAGS, ...sandbox, `--user-data-dir=${profile}`, url]);
  return {
    // Removes errors about the missing desktop message bus.
    log: () =>
      started
        .log()
        .split("\n")
        .filter((line) => !line.includes(":dbus/"))
        .join("\n"),
    async [Symbol.asyncDispose]() {
      await started.stop();
      // Its network process outlives it, and writes to the profile until its end.
      await started.closed;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
