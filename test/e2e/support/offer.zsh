# Types a line and Tab into an interactive zsh, and writes what is offered into a file, a word a line.
# Arguments: the line, the completion script, the file of the words, the file of what zsh complains about.
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "autoload -Uz compinit; compinit -u -D; source ${(q)2}; exec 2>>${(q)4}"
# Functions of zsh call compadd with -O, -A or -D to ask what would be offered.
zpty -w inner 'compadd() {
  if (( ${@[(I)-[OAD]*]} )); then builtin compadd "$@"; return; fi
  local -a offered
  builtin compadd -O offered "$@"
  (( $#offered )) && print -rl -- $offered >> '${(q)3}'
  builtin compadd "$@"
}
leave() { exit }
zle -N leave
bindkey "^I" complete-word
bindkey "^Xq" leave
print BE""GIN'
while zpty -r inner line; do [[ $line == *BEGIN* ]] && break; done
zpty -w -n inner "$1"$'\t\C-Xq'
while zpty -r inner line; do :; done
