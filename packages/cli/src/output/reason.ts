/** What a client says of its refusal, without the line ends (escaped, as the admin API shows them) that it stops with. */
export function trimReason(reason: string): string {
  return reason.replace(/(?:\\[nr]|\s)+$/, "");
}
