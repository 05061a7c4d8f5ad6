import { type Browser, chromium, type Page } from "playwright-core";
import { peerCommand } from "./peers.ts";

/** Starts Chromium under the control of the test. */
export async function startBrowser(): Promise<Browser & AsyncDisposable> {
  const [executablePath] = peerCommand("chromium") ?? [];
  if (executablePath === undefined) throw new Error("chromium is not installed");
  return await chromium.launch({
    executablePath,
    // The sandbox does not start for root, and the page is our own.
    chromiumSandbox: process.getuid?.() !== 0,
    args: ["--disable-quic", "--disable-dev-shm-usage"],
  });
}

/** A page, and what went wrong in it: uncaught errors, violations of its policy, requests elsewhere. */
export interface WatchedPage extends AsyncDisposable {
  readonly page: Page;
  readonly faults: readonly string[];
}

export async function openPage(
  browser: Browser,
  options: { readonly scheme?: "light" | "dark"; readonly width?: number; readonly height?: number } = {},
): Promise<WatchedPage> {
  const { scheme = "light", width = 1280, height = 900 } = options;
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const faults: string[] = [];
  page.on("pageerror", (error) => faults.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(message.text());
  });
  return { page, faults, [Symbol.asyncDispose]: () => context.close() };
}
