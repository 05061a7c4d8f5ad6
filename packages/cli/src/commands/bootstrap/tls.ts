/** TLS of a client; the paths are of files on the client's machine. */
export interface BootstrapTls {
  /** PEM file of the CA that signed the server's certificate. */
  readonly ca: string;
  /** DNS name or IP address that the server's certificate must have. */
  readonly serverName: string;
  /** PEM files of the client certificate and its private key. */
  readonly client: { readonly cert: string; readonly key: string } | undefined;
}
