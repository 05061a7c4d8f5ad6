/** Trims trailing line ends from the message of a NACK, including escaped ones of the admin API. */
export function trimReason(reason: string): string {
  return reason.replace(/(?:\\[nr]|\s)+$/, "");
}
