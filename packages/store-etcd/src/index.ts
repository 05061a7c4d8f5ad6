export type { EtcdTlsOptions } from "./client/tls-files.ts";
export { type EtcdStoreOptions, openEtcdStore } from "./open.ts";
