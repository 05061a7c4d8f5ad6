/** Where a node runs, as bootstraps say it; what is not known is left out. */
export interface Locality {
  readonly region?: string;
  readonly zone?: string;
  readonly sub_zone?: string;
}

/** Reads `region`, `region/zone` or `region/zone/sub-zone`; undefined for anything else. */
export function parseLocality(text: string): Locality | undefined {
  const [region, zone, subZone, ...more] = text.split("/");
  if (region === undefined || region === "" || more.length > 0) return undefined;
  return { region, ...(zone !== undefined && { zone }), ...(subZone !== undefined && { sub_zone: subZone }) };
}
