/** A major version of the API: of a service that is called, or of a type (B-TYP-08). */
export type ApiVersion = "v2" | "v3";
