/** `max-streams` is `maxStreams` among the options that commander gives. */
export function camelcase(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
