// SPDX-License-Identifier: Apache-2.0
// Parses Markdown for the checks: headings, links, inline code and blocks, each with its line.

/** The anchor that GitHub generates for a heading. */
function slugOf(heading) {
  return heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "")
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

/** Parses headings with their anchors, links, code spans and fenced blocks. Lines count from 1. */
export function parseMarkdown(text) {
  const parsed = { anchors: new Set(), headings: [], links: [], spans: [], blocks: [] };
  const seen = new Map();
  let block;
  for (const [index, line] of text.split("\n").entries()) {
    const number = index + 1;
    const fence = /^\s*(`{3,}|~{3,})\s*(.*)$/.exec(line);
    if (block !== undefined) {
      if (fence?.[1].startsWith(block.fence) && fence[2] === "") {
        parsed.blocks.push(block);
        block = undefined;
      } else block.lines.push(line);
      continue;
    }
    if (fence !== null) {
      const [language = "", ...rest] = fence[2].trim().split(/\s+/);
      block = { fence: fence[1], language, label: rest.join(" "), line: number, lines: [] };
      continue;
    }
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line);
    if (heading !== null) {
      const slug = slugOf(heading[1]);
      const count = seen.get(slug) ?? 0;
      seen.set(slug, count + 1);
      parsed.anchors.add(count === 0 ? slug : `${slug}-${count}`);
      parsed.headings.push({ text: heading[1], line: number });
    }
    for (const [, id] of line.matchAll(/<a\s+(?:id|name)="([^"]+)"/g)) parsed.anchors.add(id);
    for (const [, span] of line.matchAll(/`([^`]+)`/g)) parsed.spans.push({ text: span, line: number });
    const prose = line.replace(/`[^`]*`/g, "");
    for (const [, target] of prose.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)) {
      parsed.links.push({ target, line: number });
    }
    for (const [, target] of prose.matchAll(/^\s*\[[^\]]+\]:\s+(\S+)/g)) parsed.links.push({ target, line: number });
    for (const [, target] of prose.matchAll(/<(?:img|a|source)\b[^>]*?\b(?:src|href|srcset)="([^"]+)"/g)) {
      parsed.links.push({ target, line: number });
    }
  }
  if (block !== undefined) parsed.blocks.push({ ...block, unclosed: true });
  return parsed;
}
