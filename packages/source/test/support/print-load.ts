import type { EnvoyApi } from "@xdskit/envoy-api";
import { messageNameOf, type Resource } from "@xdskit/protocol";
import type { LoadedState, Problem } from "@xdskit/source";

/** Everything in a state that comes from files. */
export function printLayers(api: EnvoyApi, { layers, settings, files, resources }: LoadedState): string {
  const printed = [...layers].map(([layer, held]) => [layer, held.map((resource) => plain(api, resource))]);
  return `${JSON.stringify({ files, resources, settings, layers: Object.fromEntries(printed) }, null, 2)}\n`;
}

function plain(api: EnvoyApi, resource: Resource): unknown {
  const { type, name, aliases, ttlMs, doNotCache, metadata, onDemand, references, bytes, error } = resource;
  if (error !== undefined) return { name, of: messageNameOf(type), error };
  return {
    name,
    ...(aliases.length > 0 && { aliases }),
    ...(ttlMs !== undefined && { ttlMs }),
    ...(doNotCache && { doNotCache }),
    ...(metadata !== undefined && { metadata: Buffer.from(metadata).toString("base64") }),
    ...(onDemand && { onDemand }),
    ...(references.length > 0 && { references: references.map((to) => `${messageNameOf(to.type)} ${to.name}`) }),
    body: api.toJson(type, bytes),
  };
}

/** Problems as an operator sees them. */
export function printProblems(problems: readonly Problem[]): string {
  return problems.map(printProblem).join("\n");
}

function printProblem({ code, severity, file, line, column, path, message, hint, excerpt, related }: Problem): string {
  const lines = [
    `${place({ file, line, column })} ${severity} ${code}${path === undefined ? "" : ` at ${path}`}`,
    `  ${message}`,
    ...(hint === undefined ? [] : [`  ${hint}`]),
    ...(excerpt === undefined ? [] : [`  | ${excerpt}`]),
    ...(related === undefined ? [] : [`  the other one: ${place(related)}`]),
  ];
  return `${lines.join("\n")}\n`;
}

function place({
  file,
  line,
  column,
}: {
  file: string;
  line?: number | undefined;
  column?: number | undefined;
}): string {
  return [file, line, column].filter((part) => part !== undefined).join(":");
}
