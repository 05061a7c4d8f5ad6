/** The reason in the message of a Node.js system error: "no space left on device". */
export function systemErrorReason({ message }: Error): string {
  return message.replace(/^\w+: /, "").replace(/, \w+( .*)?$/s, "");
}
