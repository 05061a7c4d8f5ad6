import type { ValuePath } from "./problem.ts";
import { quote } from "./quote.ts";

/** Formats a path: `resources[2].typed_config["@type"]`. */
export function formatPath(path: ValuePath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (!/^[A-Za-z_][A-Za-z0-9_-]*$/.test(step)) text += `[${quote(step)}]`;
    else text += text === "" ? step : `.${step}`;
  }
  return text;
}
