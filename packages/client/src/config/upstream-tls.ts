import type { TlsConfig } from "./client-config.ts";
import { at, firstOf, isPresent, itemsOf, type Place, textOf } from "./place.ts";
import type { Problems } from "./problems.ts";

/** The secrets of the bootstrap, by name. */
export type StaticSecrets = ReadonlyMap<string, Place>;

/** Reads an `UpstreamTlsContext`. */
export function readUpstreamTls(context: Place, secrets: StaticSecrets, problems: Problems): TlsConfig {
  const common = at(context, "common_tls_context");
  const validation = validationOf(common, secrets, problems);
  const identity = identityOf(common, secrets, problems);
  const ca = readDataSource(at(validation, "trusted_ca"), problems);
  const certificate = readDataSource(at(identity, "certificate_chain"), problems);
  const key = readDataSource(at(identity, "private_key"), problems);
  const sni = textOf(at(context, "sni"));
  if (isPresent(identity) && (certificate === undefined) !== (key === undefined)) {
    problems.error(identity.path, "expected a certificate with its private key, got only one of them");
  }
  return {
    ...certificatesOf({ ca, certificate, key }),
    serverName: sni === "" ? certifiedName(validation) : sni,
  };
}

/** A path or the content. */
interface DataSource {
  readonly content?: string | Uint8Array;
  readonly path?: string;
}

/** The certificates and the key of a connection, each from its `DataSource`. */
export function certificatesOf({
  ca,
  certificate,
  key,
}: Readonly<Record<"ca" | "certificate" | "key", DataSource | undefined>>): Omit<TlsConfig, "serverName"> {
  return {
    ca: ca?.content,
    caPath: ca?.path,
    certificate: certificate?.content,
    certificatePath: certificate?.path,
    key: key?.content,
    keyPath: key?.path,
  };
}

/** Reads a `DataSource`; undefined if there is none. */
export function readDataSource(source: Place, problems: Problems): DataSource | undefined {
  const filename = at(source, "filename");
  const text = at(source, "inline_string");
  const bytes = at(source, "inline_bytes");
  if (isPresent(filename)) return { path: textOf(filename) };
  if (isPresent(text)) return { content: textOf(text) };
  if (isPresent(bytes)) return { content: new Uint8Array(Buffer.from(textOf(bytes), "base64")) };
  const variable = at(source, "environment_variable");
  if (isPresent(variable)) return readVariable(variable, problems);
  return undefined;
}

function readVariable(variable: Place, problems: Problems): { readonly content: string } | undefined {
  const content = process.env[textOf(variable)];
  if (content !== undefined) return { content };
  problems.error(
    variable.path,
    `expected a variable of the environment that is set, got ${JSON.stringify(textOf(variable))}`,
  );
  return undefined;
}

function validationOf(common: Place, secrets: StaticSecrets, problems: Problems): Place {
  const combined = at(common, "combined_validation_context");
  const reference = firstOf(
    common,
    ["validation_context_sds_secret_config"],
    ["combined_validation_context", "validation_context_sds_secret_config"],
  );
  if (isPresent(reference)) {
    const secret = secretNamed(reference, secrets, problems);
    if (secret !== undefined) return at(secret, "validation_context");
  }
  return isPresent(combined) ? at(combined, "default_validation_context") : at(common, "validation_context");
}

function identityOf(common: Place, secrets: StaticSecrets, problems: Problems): Place {
  const [reference] = itemsOf(at(common, "tls_certificate_sds_secret_configs"));
  if (reference !== undefined) {
    const secret = secretNamed(reference, secrets, problems);
    if (secret !== undefined) return at(secret, "tls_certificate");
  }
  const certificates = at(common, "tls_certificates");
  return itemsOf(certificates)[0] ?? { value: undefined, path: certificates.path };
}

/** A static secret of the bootstrap. A secret from a server would itself need the connection that it secures. */
function secretNamed(reference: Place, secrets: StaticSecrets, problems: Problems): Place | undefined {
  const name = textOf(at(reference, "name"));
  const secret = isPresent(at(reference, "sds_config")) ? undefined : secrets.get(name);
  if (secret === undefined) {
    problems.error(
      reference.path,
      `expected a secret of static_resources for a management server, got ${JSON.stringify(name)}`,
      "name the files in tls_certificates and validation_context",
    );
  }
  return secret;
}

/** The name that the server's certificate must bear. */
function certifiedName(validation: Place): string | undefined {
  const names = [
    ...itemsOf(at(validation, "match_typed_subject_alt_names"))
      .filter((name) => textOf(at(name, "san_type")) === "DNS")
      .map((name) => at(name, "matcher", "exact")),
    ...itemsOf(at(validation, "match_subject_alt_names")).map((name) => at(name, "exact")),
    ...itemsOf(at(validation, "verify_subject_alt_name")),
  ].map(textOf);
  return names.find((name) => name !== "");
}
