import {
  type CompletedArgument,
  type CompletedCommand,
  type CompletedOption,
  spellings,
  valuedFlags,
} from "./words.ts";

type Script = (commands: readonly CompletedCommand[], options: readonly CompletedOption[]) => string;

/** Completion for bash 3.2 and newer, without the bash-completion package. */
export const bashCompletion: Script = (commands, options) => {
  const cases = commands.map((command) => bashCase(command, options));
  const first = [...commands.map(({ name }) => name), "help", ...options.map(({ long }) => long)].join(" ");
  return `# bash completion of xds
_xds() {
  local current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} command="" word position
  # Bash splits --flag=value into three words.
  [[ $current == "=" ]] && current=""
  [[ $previous == "=" ]] && previous=\${COMP_WORDS[COMP_CWORD-2]}
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $word != -* ]] && { command=$word; break; }
  done
  COMPREPLY=()
  case $command in
${cases.join("\n")}
    *)
      _xds_words "${first}"
      ;;
  esac
}

# Sets $position, the number of the argument being typed; $1: the flags that take a value.
_xds_position() {
  local i word
  position=0
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if [[ $word != -?* ]]; then position=$((position + 1))
    elif [[ \${COMP_WORDS[i+1]} == "=" ]]; then i=$((i + 2))
    elif [[ " $1 " == *" $word "* ]]; then i=$((i + 1)); fi
    # It splits host:port as well.
    while [[ \${COMP_WORDS[i+1]} == :* ]]; do i=$((i + 2)); done
  done
}

_xds_words() {
  COMPREPLY=(\${COMPREPLY[@]+"\${COMPREPLY[@]}"} $(compgen -W "$1" -- "$current"))
}

# Offers files, or as source directories and modules only.
_xds_paths() {
  local typed=\${current#[\\"\\']} path
  typed=\${typed//\\\\/}
  while IFS= read -r path; do
    [[ $1 == source && ! -d $path ]] && case $path in ${MODULES.map((end) => `*${end}`).join("|")}) ;; *) continue ;; esac
    COMPREPLY+=("$path")
  done < <(compgen -f -- "$typed")
  # Bash 3.2 has no compopt.
  type compopt > /dev/null 2>&1 && compopt -o filenames
}

complete -F _xds xds
`;
};

const MODULES = [".ts", ".mts", ".js", ".mjs"];

function bashCase({ name, takes, options: own }: CompletedCommand, options: readonly CompletedOption[]): string {
  const values = own
    .filter(({ takesValue }) => takesValue)
    .map((option) => `        ${spellings(option).join("|")}) ${bashValue(option)}return ;;`);
  const inPlaces = takes.flatMap((argument, index) => {
    const offers = bashArgument(argument);
    return offers.length === 0 ? [] : [`        ${index + 1}) ${offers.join("; ")} ;;`];
  });
  return [
    `    ${name})`,
    ...(values.length === 0 ? [] : ["      case $previous in", ...values, "      esac"]),
    `      if [[ $current == -* ]]; then _xds_words "${[...own, ...options].map(({ long }) => long).join(" ")}"; return; fi`,
    ...(inPlaces.length === 0
      ? []
      : [`      _xds_position "${valuedFlags(own).join(" ")}"`, "      case $position in", ...inPlaces, "      esac"]),
    "      ;;",
  ].join("\n");
}

function bashArgument({ words, path }: CompletedArgument): readonly string[] {
  return [
    ...(words.length === 0 ? [] : [`_xds_words "${words.join(" ")}"`]),
    ...(path === undefined ? [] : [`_xds_paths ${path}`]),
  ];
}

function bashValue({ choices, isFile }: CompletedOption): string {
  if (choices.length > 0) return `_xds_words "${choices.join(" ")}"; `;
  return isFile ? "_xds_paths file; " : "";
}

/** Completion for zsh, after compinit. */
export const zshCompletion: Script = (commands, options) => {
  const cases = commands.map(({ name, takes, options: own }) => {
    const specs = [...own, ...options].map((option) => `        ${zshOption(option)} \\`);
    const args = takes.map((argument, index) => `'${index + 1}:${argument.name}:${zshAction(argument)}'`);
    return [
      `    ${name})`,
      "      _arguments -s \\",
      ...specs,
      `        ${[...args, "'*:name:'"].join(" ")}`,
      "      ;;",
    ].join("\n");
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

function zshAction({ words, path }: CompletedArgument): string {
  const offered = words.length === 0 ? "" : `(${words.join(" ")})`;
  if (path === undefined) return offered;
  const files = path === "file" ? "_files" : `_files -g "*(${MODULES.join("|")})"`;
  // The space: _arguments adds no options of its own, which _alternative does not know.
  return words.length === 0
    ? files
    : ` _alternative "words:word:${offered}" "paths:path:${files.replaceAll('"', '\\"')}"`;
}

function zshOption({ long, short, says, choices, takesValue, isFile }: CompletedOption): string {
  const value =
    choices.length > 0 ? `:value:(${choices.join(" ")})` : isFile ? ":file:_files" : takesValue ? ":value:" : "";
  const spec = `[${quoteZsh(says).replace(/[[\]]/g, "\\$&")}]${value}`;
  // A value is the next word, or follows "=".
  const [longSpelling, shortSpelling] = takesValue ? [`${long}=`, `${short}+`] : [long, short];
  return short === undefined
    ? `'${longSpelling}${spec}'`
    : `'(${long} ${short})'{${longSpelling},${shortSpelling}}'${spec}'`;
}

function quoteZsh(text: string): string {
  return text.replaceAll("'", "'\\''").replaceAll(":", "\\:");
}

/** Completion for fish 3 and newer. */
export const fishCompletion: Script = (commands, options) => {
  const lines = commands.flatMap(({ name, says, takes, options: own }) => {
    const when = `-n '__fish_seen_subcommand_from ${name}'`;
    const args = takes.flatMap((argument, index) => {
      const at = ["__xds_at", name, index + 1, ...valuedFlags(own)].join(" ");
      return fishArgument(argument).map((offer) => `complete -c xds -n '${at}' ${offer}`);
    });
    return [
      `complete -c xds -n __fish_use_subcommand -a ${name} -d '${quoteFish(says)}'`,
      ...args,
      ...own.map((option) => `complete -c xds ${when} ${fishOption(option)}`),
    ];
  });
  return [
    "# fish completion of xds",
    FISH_AT,
    "complete -c xds -f",
    ...options.map((option) => `complete -c xds ${fishOption(option)}`),
    ...lines,
    "",
  ].join("\n");
};

const FISH_AT = `# Whether an argument of a command is being typed: its name, the number of the argument, the flags that take a value.
function __xds_at
    set -l position -1
    set -l command
    set -l is_value no
    for word in (commandline -opc)
        if test $is_value = yes
            set is_value no
        else if contains -- $word $argv[3..-1]
            set is_value yes
        else if not string match -q -- '-*' $word
            set position (math $position + 1)
            test $position -eq 1; and set command $word
        end
    end
    test "$command" = $argv[1]; and test (math $position) -eq $argv[2]
end`;

function fishArgument({ words, path }: CompletedArgument): readonly string[] {
  const modules = MODULES.map((end) => `__fish_complete_suffix ${end}`).join("; ");
  return [
    ...(words.length === 0 ? [] : [`-a '${words.join(" ")}'`]),
    ...(path === "file" ? ["-F"] : []),
    ...(path === "source" ? ["-a '(__fish_complete_directories)'", `-a '(${modules})'`] : []),
  ];
}

function fishOption({ long, short, says, choices, takesValue, isFile }: CompletedOption): string {
  const spelling = [...(short === undefined ? [] : [`-s ${short.slice(1)}`]), `-l ${long.slice(2)}`].join(" ");
  const value = choices.length > 0 ? ` -x -a '${choices.join(" ")}'` : isFile ? " -r -F" : takesValue ? " -x" : "";
  return `${spelling}${value} -d '${quoteFish(says)}'`;
}

function quoteFish(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("'", "\\'");
}
