/** The major version of a service or of a resource type (B-TYP-08). */
export type ApiVersion = "v2" | "v3";
