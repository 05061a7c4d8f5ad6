import { groupOf, type Requirement, sideOf } from "./requirement.ts";

const groupTitles: Readonly<Record<string, string>> = {
  GEN: "General",
  TYP: "Types and type URLs",
  RST: "REST",
  FS: "Files",
  GRP: "Streams",
  NOD: "Nodes",
  VER: "Versions",
  ACK: "ACK and NACK",
  NON: "Nonces",
  SUB: "What a client wants",
  NEX: "What does not exist",
  UNS: "What a client no longer wants",
  RES: "Responses",
  ERR: "Errors in place of resources",
  DEL: "Deletions",
  DLT: "Delta",
  REC: "New streams of old clients",
  WRM: "Warming",
  ADS: "Aggregation",
  ORD: "Make before break",
  VHD: "Virtual hosts on demand",
  ODC: "Clusters on demand",
  ECD: "Configuration of extensions",
  LED: "Single endpoints",
  TRD: "Types without a service",
  XTP: "xdstp names and collections",
  LOC: "Variants and dynamic parameters",
  MSC: "Small additions",
  TTL: "Resources that expire",
  CSD: "Client status",
  LRS: "Load reports",
  HDS: "Health",
  CFG: "Configuration",
  CLI: "What a program sees",
  FBK: "Failures and fallback",
  CON: "Connections",
  VAL: "Checks of content",
  ACC: "Access",
  OBS: "What operators see",
};

const SERVER_INTRODUCTION = `# What a management server must do

The rules that the server keeps, each under an id by which tests, cases and code speak of it. An id is never given to another
rule. \`S\` binds the server, \`B\` both sides; *must*, *should* and *may* are meant as in RFC 2119. **Tested as** says what we made of
a rule where texts are silent, disagree with each other or with what clients do.

\`npm run requirements\` prints which cases and tests prove each rule. This page is written by
\`node tools/check-requirements.mjs --write\` from \`packages/conformance/src/requirement\`; change it there.
`;

const CLIENT_INTRODUCTION = `# What a client must do

The rules that the client keeps. \`C\` binds the client, \`B\` both sides, and is said here as the client sees it. Everything else is as on
the page of the [server's requirements](requirements.md): ids are for ever, *must*, *should* and *may* are meant as in RFC 2119, and
**tested as** says what we made of a rule where texts are silent, disagree or leave a choice.

This page is written by \`node tools/check-requirements.mjs --write\` from \`packages/conformance/src/requirement/client\`; change it there.
`;

/** The reference page of the server's requirements, in Markdown. */
export function renderPage(requirements: readonly Requirement[]): string {
  return render(SERVER_INTRODUCTION, requirements);
}

/** The reference page of the client's requirements, in Markdown. */
export function renderClientPage(requirements: readonly Requirement[]): string {
  return render(CLIENT_INTRODUCTION, requirements);
}

function render(introduction: string, requirements: readonly Requirement[]): string {
  const groups = [...new Set(requirements.map(({ id }) => groupOf(id)))];
  const sections = groups.map((group) => {
    const rows = requirements.filter(({ id }) => groupOf(id) === group).map(renderRow);
    return `## ${group}: ${groupTitles[group] ?? group}\n\n| id | binds | level | where | rule |\n|---|---|---|---|---|\n${rows.join("\n")}\n`;
  });
  return `${introduction}\n${sections.join("\n")}`;
}

function renderRow({ id, level, scope, says, amended, later }: Requirement): string {
  const notes = [
    says,
    ...(amended === undefined ? [] : [`**Tested as:** ${amended}`]),
    ...(later === undefined ? [] : [`**Not yet:** ${later}.`]),
  ];
  return `| ${id} | ${sideOf(id)} | ${level} | ${scope} | ${notes.join(" ")} |`;
}
