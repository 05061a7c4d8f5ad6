import type { CompletedCommand, CompletedOption } from "./words.ts";

type Script = (commands: readonly CompletedCommand[], options: readonly CompletedOption[]) => string;

/** Completion for bash 3.2 and newer, without the bash-completion package. */
export const bashCompletion: Script = (commands, options) => {
  const cases = commands.map(({ name, words, takes, options: own }) => {
    const flags = [...own, ...options].map(({ long }) => long).join(" ");
    return [
      `    ${name})`,
      ...own
        .filter(isValued)
        .map((option) => `      [[ $previous == ${spellings(option)} ]] && { ${bashValue(option)}; return; }`),
      `      if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "${flags}" -- "$current"))`,
      takes !== undefined
        ? `      else COMPREPLY=($(compgen -${takes === "file" ? "f" : "d"} -- "$current")); fi`
        : `      else COMPREPLY=($(compgen -W "${words.join(" ")}" -- "$current")); fi`,
      "      ;;",
    ].join("\n");
  });
  return `# bash completion of xds
_xds() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command="" word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word != -* ]] && { command=$word; break; }
  done
  COMPREPLY=()
  case $command in
${cases.join("\n")}
    *)
      COMPREPLY=($(compgen -W "${[...commands.map(({ name }) => name), "help", ...options.map(({ long }) => long)].join(" ")}" -- "$current"))
      ;;
  esac
}
complete -F _xds xds
`;
};

function isValued({ takesValue }: CompletedOption): boolean {
  return takesValue;
}

function spellings({ long, short }: CompletedOption): string {
  return short === undefined ? long : `@(${long}|${short})`;
}

function bashValue({ choices, isFile }: CompletedOption): string {
  if (choices.length > 0) return `COMPREPLY=($(compgen -W "${choices.join(" ")}" -- "$current"))`;
  return isFile ? 'COMPREPLY=($(compgen -f -- "$current"))' : "COMPREPLY=()";
}

/** Completion for zsh, after compinit. */
export const zshCompletion: Script = (commands, options) => {
  const cases = commands.map(({ name, words, takes, options: own }) => {
    const path = takes === "file" ? "'1:file:_files'" : "'1:directory:_files -/'";
    const argument = takes === undefined ? `'1:argument:(${words.join(" ")})'` : path;
    const specs = [...own, ...options].map((option) => `        ${zshOption(option)} \\`);
    return [`    ${name})`, "      _arguments -s \\", ...specs, `        ${argument} '*:name:'`, "      ;;"].join("\n");
  });
  const names = commands.map(({ name, says }) => `    '${quoteZsh(name)}:${quoteZsh(says)}'`);
  return `#compdef xds
_xds() {
  local -a commands
  commands=(
${names.join("\n")}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
${cases.join("\n")}
  esac
}
compdef _xds xds
`;
};

function zshOption({ long, short, says, choices, takesValue, isFile }: CompletedOption): string {
  const value =
    choices.length > 0 ? `:value:(${choices.join(" ")})` : isFile ? ":file:_files" : takesValue ? ":value:" : "";
  const spec = `[${quoteZsh(says).replace(/[[\]]/g, "\\$&")}]${value}`;
  return short === undefined ? `'${long}${spec}'` : `'(${long} ${short})'{${long},${short}}'${spec}'`;
}

function quoteZsh(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(":", "\\:");
}

/** Completion for fish 3 and newer. */
export const fishCompletion: Script = (commands, options) => {
  const lines = commands.flatMap(({ name, says, words, takes, options: own }) => {
    const when = `-n '__fish_seen_subcommand_from ${name}'`;
    const argument =
      takes !== undefined
        ? [`complete -c xds ${when} ${takes === "file" ? "-F" : "-a '(__fish_complete_directories)'"}`]
        : words.length > 0
          ? [`complete -c xds ${when} -a '${words.join(" ")}'`]
          : [];
    return [
      `complete -c xds -n __fish_use_subcommand -a ${name} -d '${quoteFish(says)}'`,
      ...argument,
      ...own.map((option) => `complete -c xds ${when} ${fishOption(option)}`),
    ];
  });
  return [
    "# fish completion of xds",
    "complete -c xds -f",
    ...options.map((option) => `complete -c xds ${fishOption(option)}`),
    ...lines,
    "",
  ].join("\n");
};

function fishOption({ long, short, says, choices, takesValue, isFile }: CompletedOption): string {
  const spelling = [...(short === undefined ? [] : [`-s ${short.slice(1)}`]), `-l ${long.slice(2)}`].join(" ");
  const value = choices.length > 0 ? ` -x -a '${choices.join(" ")}'` : isFile ? " -r -F" : takesValue ? " -x" : "";
  return `${spelling}${value} -d '${quoteFish(says)}'`;
}

function quoteFish(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
}
