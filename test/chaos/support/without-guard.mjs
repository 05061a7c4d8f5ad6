/**
 * Loaded before a program (`--import`), this replaces one expression in one of its modules: what XDS_CHAOS_GUARD says, as
 * JSON. The product has no switch for it.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { register } from "node:module";
import { isMainThread } from "node:worker_threads";

const { url, expression, without, loaded } = JSON.parse(process.env.XDS_CHAOS_GUARD ?? "{}");

if (isMainThread && url !== undefined) register(import.meta.url);

export async function load(asked, context, next) {
  if (asked !== url) return await next(asked, context);
  const source = readFileSync(new URL(url), "utf8");
  const parts = source.split(expression);
  if (parts.length !== 2) throw new Error(`${url}: expected the expression once, got it ${parts.length - 1} times`);
  appendFileSync(loaded, "loaded\n");
  return { format: "module", shortCircuit: true, source: parts.join(without) };
}
