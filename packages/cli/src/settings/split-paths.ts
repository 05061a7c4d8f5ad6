/** Splits a variable with several paths at commas and colons. */
export function splitPaths(text: string): readonly string[] {
  return text.split(/[,:]/).filter((path) => path !== "");
}
