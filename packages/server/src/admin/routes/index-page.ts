import { pageParameters, type Route } from "../route.ts";

/** The list of routes as text. */
export function describeRoutes(routes: readonly Route[], version: string): string {
  const width = Math.max(...routes.map(({ path }) => path.length)) + 2;
  const lines = routes.flatMap(({ path, says, parameters }) => [
    `  ${path.padEnd(width)}${says}`,
    ...Object.entries(parameters).map(([name, meaning]) => `      ?${`${name}=`.padEnd(13)}${meaning}`),
  ]);
  return [`xdskit ${version}: admin API, read only`, "", ...lines, ""].join("\n");
}

/** The list of routes as HTML, with links. */
export function describeRoutesAsHtml(routes: readonly Route[], version: string): string {
  const title = escapeHtml(`xdskit ${version}: admin API`);
  const rows = routes.map(({ path, says, parameters }) => {
    const own = Object.entries(parameters).filter(([name]) => !(name in pageParameters));
    const items = own.map(([name, meaning]) => `<li><code>?${escapeHtml(name)}=</code> ${escapeHtml(meaning)}</li>`);
    const list = items.length === 0 ? "" : `<ul>${items.join("")}</ul>`;
    return `<tr><td><a href=".${escapeHtml(path)}">${escapeHtml(path)}</a></td><td>${escapeHtml(says)}${list}</td></tr>`;
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
<p><a href="./console/">Open the console</a></p>
<p>Read only. Lists take <code>?limit=</code> and <code>?offset=</code>.</p>
<table>
${rows.join("\n")}
</table>
</body>
</html>
`;
}

function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return text.replace(/[&<>"]/g, (character) => entities[character] ?? character);
}
