/** The version of this package, as the admin API tells it. */
export const VERSION = "0.1.0";
