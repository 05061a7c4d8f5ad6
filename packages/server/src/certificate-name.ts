/** The kinds of names in certificates, as configured and as Node prints them. */
export const nameKinds: ReadonlyMap<string, string> = new Map([
  ["dns", "DNS"],
  ["uri", "URI"],
  ["ip", "IP Address"],
  ["email", "email"],
]);

/** Whether a configured name has a kind, as in `dns:ops.example`. */
export function hasNameKind(name: string): boolean {
  const [kind = "", value = ""] = name.split(/:(.*)/s);
  return value !== "" && (kind === "cn" || nameKinds.has(kind));
}
