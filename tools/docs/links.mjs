// SPDX-License-Identifier: Apache-2.0
// Checks that every relative link, and every repository path that a page names, exists.
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

const rooted = /^(packages|docs|tools|test|examples|api|\.ci)\/[\w./@<>*{},-]*$/;

/** The part of a path before the first placeholder (`<name>`, `*`, `{a,b}`). */
function fixedPart(path) {
  const end = path.search(/[<*{]/);
  if (end === -1) return path;
  const cut = path.slice(0, end);
  return cut.slice(0, cut.lastIndexOf("/") + 1);
}

export function checkLinks(root, pages) {
  const problems = [];
  for (const [file, { links, spans }] of pages) {
    for (const { target, line } of links) {
      if (/^[a-z][a-z+.-]*:/i.test(target)) continue;
      const [path, anchor] = target.split("#");
      const resolved = path === "" ? file : normalize(join(dirname(file), decodeURIComponent(path)));
      if (resolved.startsWith("..")) problems.push(`${file}:${line}: "${target}" leads out of the repository`);
      else if (!existsSync(join(root, resolved))) problems.push(`${file}:${line}: "${target}" does not exist`);
      else if (anchor && pages.has(resolved) && !pages.get(resolved).anchors.has(anchor)) {
        problems.push(`${file}:${line}: there is no heading "#${anchor}" in ${resolved}`);
      }
    }
    for (const { text, line } of spans) {
      const path = text.replace(/:\d+(:\d+)?$/, "");
      if (!rooted.test(path)) continue;
      const places = [join(root, fixedPart(path)), join(root, dirname(file), fixedPart(path))];
      if (!places.some((place) => existsSync(place))) {
        problems.push(`${file}:${line}: \`${path}\` does not exist`);
      }
    }
  }
  return problems;
}
