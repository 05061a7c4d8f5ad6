import type { Route } from "../route.ts";

/** What can be asked, for people with curl. */
export function describeRoutes(routes: readonly Route[], version: string): string {
  const lines = routes.flatMap(({ path, says, parameters }) => [
    `  ${path.padEnd(22)}${says}`,
    ...Object.entries(parameters).map(([name, meaning]) => `      ?${`${name}=`.padEnd(10)}${meaning}`),
  ]);
  return [`xdskit ${version}: admin API, read only`, "", ...lines, ""].join("\n");
}
