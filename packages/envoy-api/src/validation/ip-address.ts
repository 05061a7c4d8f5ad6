/** Recognises the same addresses as Node's `isIP`, in plain JavaScript, because browsers have no such function. */

const V4_PART = /^(0|[1-9]\d{0,2})$/;
const V6_GROUP = /^[0-9a-fA-F]{1,4}$/;
const ZONE = /^[0-9a-zA-Z.:-]+$/;
const V6_GROUPS = 8;
const GROUPS_OF_V4 = 2;

export function isIp(text: string): boolean {
  return isIpv4(text) || isIpv6(text);
}

/** Four decimal numbers without leading zeros. */
export function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((part) => V4_PART.test(part) && Number(part) <= 255);
}

/** Eight groups, of which `::` may replace some; the last two may be an IPv4 address; a zone may follow `%`. */
export function isIpv6(text: string): boolean {
  const percent = text.indexOf("%");
  if (percent !== -1 && !ZONE.test(text.slice(percent + 1))) return false;
  const halves = (percent === -1 ? text : text.slice(0, percent)).split("::");
  if (halves.length > 2) return false;
  const counts = halves.map((half, index) => groupsIn(half, index === halves.length - 1));
  const total = counts.reduce((sum, count) => sum + count, 0);
  return halves.length === 1 ? total === V6_GROUPS : total < V6_GROUPS;
}

/** Returns the number of groups; NaN if there is anything else. */
function groupsIn(half: string, isLast: boolean): number {
  if (half === "") return 0;
  const parts = half.split(":");
  const endsInV4 = isLast && isIpv4(parts.at(-1) ?? "");
  const groups = endsInV4 ? parts.slice(0, -1) : parts;
  return groups.every((group) => V6_GROUP.test(group)) ? groups.length + (endsInV4 ? GROUPS_OF_V4 : 0) : Number.NaN;
}
