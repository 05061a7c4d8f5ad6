/** Formats an age in one unit: `3s`, `12m`, `5h`, `4d`. */
export function formatAge(since: string | undefined, now: Date): string {
  if (since === undefined) return "";
  const seconds = Math.max(0, Math.floor((now.getTime() - Date.parse(since)) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
