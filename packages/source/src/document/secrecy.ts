import type { ValuePath } from "@xdskit/protocol/internal";

const SENSITIVE =
  /secret|passw|private_?key|credential|api_?key|inline_?(?:string|bytes)|ticket_?key|auth_?token|access_?token|client_?token|PRIVATE KEY/i;

/**
 * Whether a line must be hidden because of its content. Names of secrets are shown: `sds_config` and `secret_name` say
 * where a secret is, not what it is.
 */
export function mayHoldSecret(line: string): boolean {
  return SENSITIVE.test(withoutNames(line));
}

/** Whether a line must be hidden because of its field. */
export function leadsToSecret(path: ValuePath): boolean {
  return path.some((step) => typeof step === "string" && mayHoldSecret(step));
}

/** Whether a text contains anything that must be hidden, for texts with unknown structure. */
export function mentionsSecrets(text: string): boolean {
  return SENSITIVE.test(text);
}

function withoutNames(text: string): string {
  return text.replace(/sds_secret_configs?|secret_name|sdsSecretConfigs?|secretName/g, "");
}
