import { Argument } from "commander";
import { type AddCommand, addExamples } from "./add-command.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;

/** `xds completion bash|zsh|fish`: prints a completion script. */
export const addCompletionCommand: AddCommand = (program, context) => {
  const command = program
    .command("completion")
    .summary("print a completion script for bash, zsh or fish")
    .description("Print a shell completion script.")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action((shell: string) =>
      context.perform(async () => (await import("../commands/completion.ts")).completion(shell, program, context)),
    );
  addExamples(command, [
    ["source <(xds completion bash)", "bash, in this shell only; add the line to ~/.bashrc to keep it"],
    ["source <(xds completion zsh)", "zsh; the same with ~/.zshrc, after compinit"],
    ["xds completion fish > ~/.config/fish/completions/xds.fish", "fish"],
  ]);
};
