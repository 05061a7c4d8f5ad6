import { configSource, type Mode } from "./mode.ts";

const LUA = "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua";

/** An HTTP filter whose configuration is discovered (ECDS) under its name. */
export function discoveredFilter(name: string, mode: Mode): object {
  return { name, config_discovery: { config_source: configSource(mode), type_urls: [LUA] } };
}

/** The configuration of such a filter, which adds the header `x-greeting`. */
export function headerFilter(name: string, value: string): object {
  const script = `function envoy_on_response(handle) handle:headers():add("x-greeting", "${value}") end`;
  return {
    "@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig",
    name,
    typed_config: { "@type": LUA, default_source_code: { inline_string: script } },
  };
}
