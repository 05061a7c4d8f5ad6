import { locatedTerm } from "@xdskit/protocol/internal";

/** The term of a locator `a {env=prod}`; any other text is returned unchanged. */
export function termOf(text: string): string {
  const [, name, inside] = /^(.*?) \{(.*)\}$/.exec(text) ?? [];
  if (name === undefined || inside === undefined) return text;
  const pairs = inside.split(", ").flatMap((pair): readonly (readonly [string, string])[] => {
    const [key = "", value = ""] = pair.split("=", 2);
    return key === "" ? [] : [[key, value]];
  });
  return locatedTerm(name, new Map(pairs));
}
