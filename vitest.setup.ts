import fc from "fast-check";

/**
 * Properties meet the same cases on every run, so that a run that fails here fails everywhere. `XDS_PROPERTY_SEED` goes
 * looking elsewhere: a number, or `random`.
 */
const seed = process.env["XDS_PROPERTY_SEED"] ?? "20261121";
if (seed !== "random") fc.configureGlobal({ seed: Number(seed) });
