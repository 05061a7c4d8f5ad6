import type { FilterChain } from "../../gen/types/envoy/config/listener/v3/listener_components_pb.d.ts";
import type { Listener } from "../../gen/types/envoy/config/listener/v3/listener_pb.d.ts";
import { type CatalogEntry, defineEntry, type ReportFinding } from "./entry.ts";
import { addressesIn } from "./listener-addresses.ts";

const HTTP = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3";
/** What clients take in an `api_listener`; the second is for Envoy Mobile. */
const API_LISTENERS = [`${HTTP}.HttpConnectionManager`, `${HTTP}.EnvoyMobileHttpConnectionManager`];

/** LDS: its routes, secrets, clusters and extension configs are found by visiting all its filters. */
export const listener: CatalogEntry = defineEntry<Listener>({
  message: "envoy.config.listener.v3.Listener",
  kind: "lds",
  shortName: "lds",
  isFullState: true,
  v2Message: "envoy.api.v2.Listener",
  discovery: {
    services: { v3: "envoy.service.listener.v3.Listener", v2: "envoy.api.v2.Listener" },
    noun: "Listeners",
    rest: "listeners",
  },
  nameField: "name",
  addressesIn,
  check: checkListener,
});

function checkListener(content: Listener, report: ReportFinding): void {
  if (content.apiListener !== undefined) {
    checkApiListener(content, report);
    return;
  }
  const isInternal = content.listenerSpecifier.case === "internalListener";
  if (content.address === undefined && !isInternal) {
    report(
      "LISTENER_ADDRESS_MISSING",
      [],
      "expected an address, an `internal_listener` or an `api_listener`, got none: Envoy rejects it",
    );
  }
  const isUdp = content.udpListenerConfig !== undefined;
  if (
    content.filterChains.length === 0 &&
    content.defaultFilterChain === undefined &&
    !isUdp &&
    content.listenerFilters.length === 0
  ) {
    report(
      "LISTENER_FILTER_CHAINS_MISSING",
      [],
      "expected `filter_chains` or a `default_filter_chain`, got none: Envoy rejects it",
    );
  }
  if (content.filterChainMatcher === undefined) checkFilterChainMatches(content.filterChains, report);
}

function checkApiListener(content: Listener, report: ReportFinding): void {
  const held = content.apiListener?.apiListener;
  if (held !== undefined && API_LISTENERS.includes(held.typeUrl)) return;
  report(
    "LISTENER_API_LISTENER_INVALID",
    ["api_listener"],
    "expected an HttpConnectionManager in `api_listener`: gRPC clients reject anything else",
  );
}

function checkFilterChainMatches(chains: readonly FilterChain[], report: ReportFinding): void {
  const seen = new Map<string, number>();
  chains.forEach((chain, index) => {
    const key = JSON.stringify(chain.filterChainMatch ?? {}, (_, value: unknown) =>
      typeof value === "bigint" ? String(value) : value,
    );
    const first = seen.get(key);
    if (first === undefined) seen.set(key, index);
    else {
      report(
        "LISTENER_FILTER_CHAIN_DUPLICATE",
        ["filter_chains", index],
        `expected each \`filter_chain_match\` once, got that of \`filter_chains\`[${first}]: Envoy rejects it`,
      );
    }
  });
}
