// SPDX-License-Identifier: Apache-2.0
// Extracts commands and flags from the command line, for the reference page and to check the commands in other pages.
import { join } from "node:path";

const COLUMNS = 100;

/** The output of `xds ARGV`, without a process. */
async function said(run, argv) {
  let text = "";
  const output = { write: (more) => (text += more), isTerminal: false, columns: COLUMNS };
  const interrupted = new AbortController().signal;
  const io = { stdout: output, stderr: output, env: {}, cwd: ".", now: () => new Date(0), interrupted };
  await run(argv, { ...io, endByItself: () => undefined });
  return text.trimEnd();
}

function sectionOf(help, title) {
  const lines = help.split("\n");
  const start = lines.indexOf(`${title}:`);
  if (start === -1) return [];
  const rest = lines.slice(start + 1);
  const end = rest.findIndex((line) => line === "" || /^\S/.test(line));
  return end === -1 ? rest : rest.slice(0, end);
}

/** The commands, flags and tables of the command line. */
export async function loadCli(root) {
  const { run, exitCodeMeanings, commandLogTable } = await import(join(root, "packages/cli/dist/index.js"));
  const main = await said(run, ["--help"]);
  const names = sectionOf(main, "Commands")
    .map((line) => /^ {2}([a-z]+)/.exec(line)?.[1])
    .filter((name) => name !== undefined && name !== "help");
  const helps = new Map(await Promise.all(names.map(async (name) => [name, await said(run, ["help", name])])));
  const flagsIn = (help) =>
    new Set([...help.matchAll(/^\s+(?:(-\w), )?(--[a-z0-9-]+)/gm)].flatMap(([, short, long]) => [short, long]));
  const flags = new Map([...helps].map(([name, help]) => [name, flagsIn(help)]));
  const common = flagsIn(main);
  const cell = (text) => String(text).replaceAll("|", "\\|");

  return {
    print: (argv) => said(run, argv),
    offers: (name, flag) => flags.get(name).has(flag),
    /** Returns the problems of a command line after the word `xds`. */
    check(words) {
      const [name, ...rest] = words;
      if (name === undefined || common.has(name) || name === "help") return [];
      const known = flags.get(name);
      if (known === undefined) return [`there is no command "xds ${name}"`];
      return rest
        .filter((word) => /^--?[a-z]/.test(word))
        .map((word) => word.split("=")[0])
        .filter((flag) => !known.has(flag) && !common.has(flag) && !known.has(flag.replace(/^--no-/, "--")))
        .map((flag) => `"xds ${name}" has no flag ${flag}`);
    },
    makers: {
      commands: async () =>
        [["xds", main], ...[...helps].map(([name, help]) => [`xds ${name}`, help])]
          .map(([title, help]) => `## ${title}\n\n\`\`\`text\n${help}\n\`\`\``)
          .join("\n\n"),
      "exit-codes": async () =>
        [
          "| code | meaning |",
          "| --- | --- |",
          ...exitCodeMeanings.map(([code, meaning]) => `| \`${code}\` | ${cell(meaning)} |`),
        ].join("\n"),
      "command-log": async () =>
        [
          "| event | level | message | fields | what it means |",
          "| --- | --- | --- | --- | --- |",
          ...Object.entries(commandLogTable).map(
            ([name, row]) =>
              `| \`${name}\` | ${row.level} | ${cell(row.message)} | ${row.fields.map((field) => `\`${field}\``).join(", ")} | ${cell(row.means)} |`,
          ),
        ].join("\n"),
    },
  };
}
