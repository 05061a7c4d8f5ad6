// SPDX-License-Identifier: Apache-2.0
// Generates the parts of docs/reference that come from tables in the code, and checks names that pages and code share.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

async function load(root, file) {
  return import(join(root, "packages", file));
}

function table(head, rows) {
  const cell = (text) => String(text).replaceAll("|", "\\|").replaceAll("\n", " ");
  const line = (cells) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function code(text) {
  return `\`${text}\``;
}

function codes(texts) {
  return texts.length === 0 ? "" : texts.map(code).join(", ");
}

const kindNames = {
  count: "whole number",
  bytes: "size (`64MiB`)",
  duration: "time (`500ms`, `30s`, `1h`)",
  address: "`host:port`, `:port` or a port",
  "address-or-off": "`host:port`, `:port`, a port, or `off`",
  "certificate-names": "one or more names",
  "path-or-off": "a path, or `off`",
  "duration-or-off": "a duration, or `off`",
  "count-or-auto": "whole number, or `auto`",
  "share-or-off": "a percentage (`50%`), or `off`",
  path: "path",
  paths: "one or more paths",
  texts: "one or more texts",
  switches: "one or more `NAME=VALUE`; in the file a mapping",
  boolean: "`true` or `false`",
  text: "text",
};

async function settings(root) {
  const { settingTable } = await load(root, "source/dist/settings/setting-table.js");
  const { describeBounds } = await load(root, "source/dist/settings/setting-bounds.js");
  return describeSettings(settingTable, { ...(await load(root, "cli/dist/index.js")), describeBounds });
}

/** Returns the reference table of settings. */
export function describeSettings(settingTable, { flagNameOf, variableOf, describeBounds }) {
  return table(
    ["key", "flag", "variable", "value", "default", "what it is"],
    settingTable.map((row) => [
      code(row.key),
      code(`--${flagNameOf(row.key)}`),
      code(variableOf(row.key)),
      valuesOf(row, describeBounds),
      row.default === undefined ? "" : code(row.default),
      row.doc,
    ]),
  );
}

function valuesOf(row, describeBounds) {
  if (row.words !== undefined) return row.words.map(code).join(", ");
  const bounds = describeBounds(row);
  return bounds === undefined ? kindNames[row.kind] : `${kindNames[row.kind]}; ${bounds}`;
}

const formNames = { boolean: "`true`, `false`", duration: "time (`500ms`, `30s`)", bytes: "size (`64MiB`)" };

async function switches(root) {
  const protocol = {
    ...(await load(root, "protocol/dist/index.js")),
    ...(await load(root, "protocol/dist/internal.js")),
  };
  const { switchFields, switchTable, switchNameOf, formatSwitch, isPerKind, inEdition, editions, knownClients } =
    protocol;
  return table(
    [
      "switch",
      "values",
      "default",
      "older editions",
      "known clients",
      "for the whole server",
      "[requirements](../spec/requirements.md)",
      "what it is",
    ],
    switchFields.map((field) => {
      const { form, current, ids, setting, says } = switchTable[field];
      const values = form.kind === "word" ? codes(form.words) : formNames[form.kind];
      const older = editions
        .filter((edition) => switchTable[field].older?.[edition] !== undefined)
        .map((edition) => `${edition}: ${code(formatSwitch(field, inEdition(field, edition)))}`);
      const clients = knownClients
        .filter(({ overrides }) => overrides[field] !== undefined)
        .map(({ name, overrides }) => `${name}: ${code(formatSwitch(field, overrides[field]))}`);
      return [
        code(switchNameOf(field)),
        isPerKind(field) ? `${values}; by kind` : values,
        code(formatSwitch(field, current)),
        older.join("<br>"),
        clients.join("<br>"),
        setting === undefined ? "" : code(setting),
        ids.join(", "),
        says,
      ];
    }),
  );
}

async function clientSwitches(root) {
  const { editions } = await load(root, "protocol/dist/index.js");
  const { clientDialect, clientSwitchTable } = await load(root, "protocol/dist/internal.js");
  return table(
    ["switch", "values", "default", "older editions", "[requirements](../spec/requirements.md)", "what it is"],
    Object.entries(clientSwitchTable).map(([field, { form, current, older, ids, says }]) => [
      code(field),
      form.kind === "word" ? codes(form.words) : formNames[form.kind],
      code(current),
      editions
        .filter((edition) => older?.[edition] !== undefined)
        .map((edition) => `${edition}: ${code(clientDialect({}, edition)[field])}`)
        .join("<br>"),
      ids.join(", "),
      says,
    ]),
  );
}

async function editionRows(root) {
  const { editionRows } = await load(root, "conformance/dist/index.js");
  const { switchNameOf } = await load(root, "protocol/dist/internal.js");
  return table(
    ["row", "what editions disagree about", "switch", "where there is none"],
    editionRows.map(({ id, says, switches, elsewhere }) => [
      id,
      says,
      codes(switches.map(switchNameOf)),
      switches.length > 0 ? "" : (elsewhere ?? "read as in the newest edition, which older clients can do with"),
    ]),
  );
}

async function metrics(root) {
  const { metricTable } = await load(root, "server/dist/observe/metric-table.js");
  return describeMetrics(metricTable);
}

/** Returns the reference table of metrics. */
export function describeMetrics(metricTable) {
  return table(
    ["metric", "kind", "labels", "with workers", "what it counts"],
    Object.entries(metricTable).map(([name, row]) => [code(name), row.kind, codes(row.labels), row.merge, row.help]),
  );
}

async function logEvents(root) {
  const { logTable } = await load(root, "server/dist/observe/log-table.js");
  return describeLogEvents(logTable);
}

/** Returns the reference table of log events. */
export function describeLogEvents(logTable) {
  return table(
    ["event", "level", "message", "fields", "what it means"],
    Object.entries(logTable).map(([name, row]) => [
      row.of === undefined ? code(name) : `${code(name)}, of ${code(row.of)}`,
      row.level,
      row.message,
      codes(row.fields),
      row.means,
    ]),
  );
}

async function routes(root) {
  const all = await Promise.all(
    readdirSync(join(root, "packages/server/dist/admin/routes"))
      .filter((file) => /\.js$/.test(file) && !/\.test\.js$/.test(file))
      .map((file) => load(root, `server/dist/admin/routes/${file}`)),
  );
  const found = all.flatMap((module) => Object.values(module)).filter((value) => typeof value?.path === "string");
  return table(
    ["route", "answer", "parameters"],
    found
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
      .map(({ method = "GET", path, says, parameters }) => [
        code(`${method} ${path}`),
        says,
        Object.entries(parameters)
          .map(([name, meaning]) => `${code(name)}: ${meaning}`)
          .join("; "),
      ]),
  );
}

async function types(root) {
  const { createEnvoyApi } = await load(root, "envoy-api/dist/index.js");
  return table(
    ["name", "type URL"],
    createEnvoyApi().types.map(({ shortName, type }) => [code(shortName), code(type)]),
  );
}

/** Generators of the parts between `<!-- made from NAME -->` and `<!-- end -->`. */
const makers = {
  settings,
  switches,
  "client-switches": clientSwitches,
  "edition-rows": editionRows,
  metrics,
  "log-events": logEvents,
  routes,
  types,
};

const section = /<!-- made from ([\w-]+) -->\n([\s\S]*?)<!-- end -->/g;

/** A part between `<!-- printed by xds … -->` and `<!-- end -->`: the output of that command, as a block. */
const printed = /<!-- printed by xds ([^\n]+) -->\n[\s\S]*?<!-- end -->/g;

/** Returns the text of a page with every generated section renewed. */
async function withMadeSections(text, file, all, root, cli, problems) {
  let next = text;
  for (const [whole, name] of text.matchAll(section)) {
    if (all[name] === undefined) {
      problems.push(`${file}: there is nothing called "${name}" to make a section from`);
      continue;
    }
    const made = `<!-- made from ${name} -->\n\n${await all[name](root, cli)}\n\n<!-- end -->`;
    next = next.replace(whole, () => made);
  }
  for (const [whole, line] of text.matchAll(printed)) {
    const output = await cli.print(line.split(" "));
    const language = output.startsWith("{") ? "json" : "yaml";
    const made = `<!-- printed by xds ${line} -->\n\n\`\`\`${language}\n${output}\n\`\`\`\n\n<!-- end -->`;
    next = next.replace(whole, () => made);
  }
  return next;
}

/** Compares or writes every generated section of the pages. */
export async function checkSections(root, files, cli, write) {
  const problems = [];
  const all = { ...makers, ...cli.makers };
  for (const file of files) {
    const text = readFileSync(join(root, file), "utf8");
    const next = await withMadeSections(text, file, all, root, cli, problems);
    if (next === text) continue;
    if (write) writeFileSync(join(root, file), next);
    else problems.push(`${file}: a section made from code is not up to date; run \`npm run docs\``);
  }
  return problems;
}

/** String literals in a package's sources that match the pattern of codes. */
function literals(root, folder, pattern) {
  const base = join(root, folder);
  if (!existsSync(base)) return [];
  return readdirSync(base, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts") && !entry.name.endsWith(".test.ts"))
    .flatMap((entry) => {
      const text = readFileSync(join(entry.parentPath ?? entry.path, entry.name), "utf8");
      return [...text.matchAll(pattern)].map((match) => match[1]);
    });
}

/** The members of a union of string literals. */
function unionOf(root, file, name) {
  const text = readFileSync(join(root, file), "utf8").replace(/\/\*\*[\s\S]*?\*\//g, "");
  const body = new RegExp(`type ${name} =([\\s\\S]*?);`).exec(text)?.[1] ?? "";
  return [...body.matchAll(/"([A-Z0-9_]+)"/g)].map((match) => match[1]);
}

/** Codes in the first column of the tables on a page. */
function listedOn(root, file) {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell]) =>
    [...cell.matchAll(/`([A-Z][A-Z0-9]*_[A-Z0-9_]+)`/g)].map((match) => match[1]),
  );
}

/** Checks that names in code spans that look like metrics or settings exist. */
export async function checkNames(root, pages) {
  const { metricTable } = await load(root, "server/dist/observe/metric-table.js");
  const { settingTable } = await load(root, "source/dist/settings/setting-table.js");
  const keys = new Set(settingTable.map(({ key }) => key));
  return [...pages].flatMap(([file, { spans }]) =>
    spans.flatMap(({ text, line }) => {
      const metric = /^((?:xds|process|nodejs)_[a-z_]+)(?:\{.*\})?$/.exec(text)?.[1];
      if (metric !== undefined && metricTable[metric.replace(/_(bucket|sum|count)$/, "")] === undefined) {
        return metricTable[metric] === undefined ? [`${file}:${line}: there is no metric ${metric}`] : [];
      }
      const key = /^((?:limits|tls|log)\.[a-z-]+)(?:: .*)?$/.exec(text)?.[1];
      return key !== undefined && !keys.has(key) ? [`${file}:${line}: there is no setting ${key}`] : [];
    }),
  );
}

/** Checks that the page of problems lists exactly the problem codes of the code. */
export function checkProblemCodes(root) {
  const page = "docs/reference/problems.md";
  const inCode = new Set([
    ...unionOf(root, "packages/source/src/problem.ts", "SourceProblemCode"),
    ...["ReadingCode", "CatalogCode", "ConversionCode", "PgvCode"].flatMap((name) =>
      unionOf(root, "packages/envoy-api/src/problem.ts", name),
    ),
    ...unionOf(root, "packages/server/src/error.ts", "XdsErrorCode"),
    ...unionOf(root, "packages/cli/src/commands/check/finding.ts", "FindingCode"),
    ...["packages/cli/src", "packages/server/src/state"].flatMap((folder) =>
      literals(root, folder, /code: "([A-Z]+_[A-Z_]+)"/g),
    ),
  ]);
  const onPage = new Set(listedOn(root, page));
  return [
    ...[...inCode].filter((one) => !onPage.has(one)).map((one) => `${page}: ${one} is missing`),
    ...[...onPage].filter((one) => !inCode.has(one)).map((one) => `${page}: ${one} is not a code of ours`),
  ];
}
