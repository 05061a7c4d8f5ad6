export { type EtcdStoreOptions, type EtcdTlsOptions, openEtcdStore } from "./open.ts";
