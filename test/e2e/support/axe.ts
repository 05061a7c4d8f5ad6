import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** What axe finds against the rules of WCAG and good practice. */
export async function violations(page: Page): Promise<readonly string[]> {
  // The policy of the page does not apply to what the debugger evaluates.
  await page.evaluate(axe);
  const found = (await page.evaluate("axe.run().then(({ violations }) => violations)")) as readonly Violation[];
  return found.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" ")}`);
}

interface Violation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string }[];
}
