import { readFileSync, writeFileSync } from "node:fs";
import type { ClientSaid, Said, ServerSaid } from "./recording-proxy.ts";

/** Formats a recording as a Mermaid sequence diagram in Markdown. */
export function sequenceDiagram(said: readonly Said[]): string {
  const lines = said.map((one) => {
    if (one.by === "server") return `S->>E: ${serverText(one)}`;
    if (one.by === "client") return `E${one.answer === "NACK" ? "--x" : "-->>"}S: ${clientText(one)}`;
    return one.by === "operator" ? `O->>S: ${one.text}` : `Note over E: ${one.text}`;
  });
  const participants = [
    ["O", "operator"],
    ["S", "xds serve"],
    ["E", "Envoy"],
  ].map(([id, name]) => `participant ${id} as ${name}`);
  const body = [...participants, ...lines].map((line) => `    ${line}`).join("\n");
  return `\`\`\`mermaid\nsequenceDiagram\n${body}\n\`\`\``;
}

function serverText({ type, isWhole, names, removed, clusters, empty }: ServerSaid): string {
  const parts: string[] = [];
  if (names.length > 0 || isWhole) parts.push(`${isWhole ? "complete set: " : ""}${names.join(", ") || "empty"}`);
  if (clusters.length > 0) parts.push(`to ${clusters.join(", ")}`);
  if (empty.length > 0) parts.push("with no endpoints");
  if (removed.length > 0) parts.push(`${parts.length > 0 ? "and " : ""}remove ${removed.join(", ")}`);
  return `${type.toUpperCase()} ${parts.join(" ")}`;
}

function clientText({ type, answer, asks, drops }: ClientSaid): string {
  const parts = [
    answer ?? "",
    asks.length > 0 ? `subscribe to ${asks.join(", ")}` : "",
    drops.length > 0 ? `unsubscribe from ${drops.join(", ")}` : "",
  ].filter((part) => part !== "");
  return `${type.toUpperCase()} ${parts.join(", ") || "request without a change"}`;
}

/**
 * Replaces the part of a page between `<!-- recorded: NAME -->` and the next `<!-- end -->`. Throws if there is none.
 */
export function putPicture(page: string, name: string, picture: string): void {
  const text = readFileSync(page, "utf8");
  const begin = `<!-- recorded: ${name} -->\n`;
  const from = text.indexOf(begin);
  const to = text.indexOf("<!-- end -->", from);
  if (from === -1 || to === -1) throw new Error(`${page} has no place for "${name}"`);
  writeFileSync(page, `${text.slice(0, from)}${begin}\n${picture}\n\n${text.slice(to)}`);
}
