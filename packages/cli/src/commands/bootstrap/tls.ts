/** Files, on the client's machine, that a client connects over TLS with. */
export interface BootstrapTls {
  /** PEM file of the authority that signed the server's certificate. */
  readonly ca: string;
  /** PEM files of the certificate that the client shows, and of its key. */
  readonly client: { readonly cert: string; readonly key: string } | undefined;
}
