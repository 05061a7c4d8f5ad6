/** A variable names several files with a comma between them, or a colon, as PATH does. */
export function splitPaths(text: string): readonly string[] {
  return text.split(/[,:]/).filter((path) => path !== "");
}
