/** Paths of TLS files on the client's machine. */
export interface BootstrapTls {
  /** PEM file of the CA that signed the server's certificate. */
  readonly ca: string;
  /** PEM files of the client certificate and its private key. */
  readonly client: { readonly cert: string; readonly key: string } | undefined;
}
