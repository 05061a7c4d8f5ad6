/** The key of a flag in Commander's options: `max-streams` is `maxStreams`. */
export function camelcase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
