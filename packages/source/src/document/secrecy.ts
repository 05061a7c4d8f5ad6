import type { ValuePath } from "../problem.ts";

const SENSITIVE =
  /secret|passw|private_?key|credential|api_?key|inline_?(?:string|bytes)|ticket_?key|auth_?token|access_?token|client_?token|PRIVATE KEY/i;

/**
 * Whether a line must not be shown because of what stands in it. The name of a secret is shown: `sds_config` and `secret_name` say
 * where a secret is, not what it is.
 */
export function mayHoldSecret(line: string): boolean {
  return SENSITIVE.test(withoutNames(line));
}

/** Whether a line must not be shown because of the field it belongs to. */
export function leadsToSecret(path: ValuePath): boolean {
  return path.some((step) => typeof step === "string" && mayHoldSecret(step));
}

/** Whether a text has anything in it that must not be shown; asked where it is not known what its lines are. */
export function mentionsSecrets(text: string): boolean {
  return SENSITIVE.test(text);
}

function withoutNames(text: string): string {
  return text.replace(/sds_secret_configs?|secret_name|sdsSecretConfigs?|secretName/g, "");
}
