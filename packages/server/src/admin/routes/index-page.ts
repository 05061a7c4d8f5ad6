import { pageParameters, type Route } from "../route.ts";

/** The list of routes as text. */
export function describeRoutes(routes: readonly Route[], version: string): string {
  const width = Math.max(...routes.map((route) => nameOf(route).length)) + 2;
  const lines = routes.flatMap(({ says, parameters, ...route }) => [
    `  ${nameOf(route).padEnd(width)}${says}`,
    ...Object.entries(parameters).map(([name, meaning]) => `      ?${`${name}=`.padEnd(13)}${meaning}`),
  ]);
  const others = ["In a browser: /console/. On the command line: xds status, xds wait, xds nodes."];
  return [`xdskit ${version}: admin API`, "", ...lines, "", ...others, ""].join("\n");
}

/** The list of routes as HTML, with links. */
export function describeRoutesAsHtml(routes: readonly Route[], version: string): string {
  const title = escapeHtml(`xdskit ${version}: admin API`);
  const rows = routes.map(({ method, path, says, parameters }) => {
    const own = Object.entries(parameters).filter(([name]) => !(name in pageParameters));
    const items = own.map(([name, meaning]) => `<li><code>?${escapeHtml(name)}=</code> ${escapeHtml(meaning)}</li>`);
    const list = items.length === 0 ? "" : `<ul>${items.join("")}</ul>`;
    const name = escapeHtml(nameOf({ method, path }));
    const link = method === undefined ? `<a href=".${escapeHtml(path)}">${name}</a>` : name;
    return `<tr><td>${link}</td><td>${escapeHtml(says)}${list}</td></tr>`;
  });
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${title}</title>
<style>
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;margin:2em auto;max-width:60em;padding:0 1em}
td{padding:.4em 1em .4em 0;vertical-align:top;border-top:1px solid #8884}
td:first-child{white-space:nowrap}
ul{margin:.2em 0 0;padding-left:1.2em;opacity:.8;font-size:.9em}
</style>
</head>
<body>
<h1>${title}</h1>
<p><a href="./console/">Open the console</a>. On the command line: <code>xds status</code>, <code>xds wait</code>, <code>xds nodes</code>.</p>
<p>Lists take <code>?limit=</code> and <code>?offset=</code>.</p>
<table>
${rows.join("\n")}
</table>
</body>
</html>
`;
}

/** The path, with the method if it is not GET. */
function nameOf({ method, path }: Pick<Route, "path"> & { readonly method?: Route["method"] | undefined }): string {
  return method === undefined ? path : `${method} ${path}`;
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
