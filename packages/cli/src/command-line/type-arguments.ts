import type { Command } from "commander";
import { typeNames, typeWords } from "../discovery/type-named.ts";

/** Adds the arguments of `get` and `watch`: a type, and names of resources. */
export function addTypeArguments(command: Command): void {
  command
    .argument("<type>", `${[...typeNames.keys()].join(", ")}, ${typeWords.join(", ")}, or a type URL`)
    .argument("[name...]", "names of resources (default: all)");
}
