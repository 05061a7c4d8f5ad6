/** `GET /api/v1/caller`: what the API knows of who asks. */
export interface CallerAnswer {
  /** The names of its certificate, or where it comes from: the author of what it decides. */
  readonly name: string;
  /** Absent where an access rule lets it in without a role. */
  readonly role?: "viewer" | "operator";
  /** Whether it may change something, as operators may. */
  readonly mayChange: boolean;
}
