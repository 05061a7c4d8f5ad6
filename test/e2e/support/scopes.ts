import { configSource, type Mode } from "./mode.ts";

/** Scoped routes of an HttpConnectionManager, selected by a header. */
export function scopedRoutes(mode: Mode, header: string): object {
  const source = configSource(mode);
  const fragment = { header_value_extractor: { name: header, element_separator: ",", index: 0 } };
  return {
    scoped_routes: {
      name: "scopes",
      scope_key_builder: { fragments: [fragment] },
      rds_config_source: source,
      scoped_rds: { scoped_rds_config_source: source },
    },
  };
}

/** The scope of a value of that header. */
export function scopeOf(value: string, routes: string): object {
  return {
    "@type": "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration",
    name: `scope-of-${routes}`,
    route_configuration_name: routes,
    key: { fragments: [{ string_key: value }] },
  };
}
