import type { Command } from "commander";
import { typeNames, typeWords } from "../discovery/type-named.ts";

/** What `get` and `watch` are asked for. */
export function addTypeArguments(command: Command): void {
  command
    .argument("<type>", `${[...typeNames.keys()].join(", ")}, ${typeWords.join(", ")}, or a type URL`)
    .argument("[name...]", "names of resources (default: all)");
}
