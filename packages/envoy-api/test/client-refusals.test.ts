import { describe, expect, it } from "vitest";
import { api, lines, typed, V3 } from "./support/api.ts";

const ADS = { ads: {}, resource_api_version: "V3" };
const MOBILE = "envoy.extensions.filters.network.http_connection_manager.v3.EnvoyMobileHttpConnectionManager";
const router = { name: "router", typed_config: typed(V3.router, {}) };

describe("what real clients refuse is a warning", () => {
  const endpoint = (address: string, port = 80): object => ({
    endpoint: { address: { socket_address: { address, port_value: port } } },
  });

  it.each<[string, object, readonly string[]]>([
    [
      V3.cluster,
      { name: "c", type: "EDS" },
      ["warning CLUSTER_EDS_CONFIG_MISSING : expected eds_cluster_config.eds_config for type EDS, got none"],
    ],
    [
      V3.cluster,
      {
        name: "xdstp://a/b/c",
        type: "EDS",
        eds_cluster_config: { eds_config: ADS },
        load_assignment: { cluster_name: "c" },
      },
      [
        "warning CLUSTER_SERVICE_NAME_MISSING : expected eds_cluster_config.service_name for a name that begins with xdstp: gRPC rejects it without",
        "warning CLUSTER_ENDPOINTS_UNUSED load_assignment: expected no load_assignment for type EDS: its endpoints come from EDS",
      ],
    ],
    [
      V3.cluster,
      { name: "c", edsClusterConfig: { edsConfig: ADS } },
      [
        "warning CLUSTER_EDS_CONFIG_UNUSED edsClusterConfig: expected type EDS beside edsClusterConfig: Envoy rejects it with another",
        "warning CLUSTER_ENDPOINTS_MISSING : expected loadAssignment, got none: the cluster has no endpoint to send to",
      ],
    ],
    [
      V3.cluster,
      {
        name: "c",
        type: "LOGICAL_DNS",
        load_assignment: { cluster_name: "c", endpoints: [{ lb_endpoints: [endpoint("a"), endpoint("b")] }] },
      },
      ["warning CLUSTER_LOGICAL_DNS_ENDPOINTS load_assignment: expected one endpoint for LOGICAL_DNS, got 2"],
    ],
    [
      V3.cluster,
      { name: "c", type: "ORIGINAL_DST" },
      [
        "warning CLUSTER_LB_POLICY_MISMATCH lb_policy: expected lb_policy CLUSTER_PROVIDED for type ORIGINAL_DST: Envoy rejects another",
      ],
    ],
    [
      V3.endpoints,
      {
        cluster_name: "c",
        endpoints: [
          { locality: { region: "r" }, lb_endpoints: [endpoint("10.0.0.1"), endpoint("10.0.0.1"), endpoint("host")] },
          { locality: { region: "r" }, lb_endpoints: [{ endpoint: {} }] },
          { priority: 2, load_balancing_weight: 1 },
        ],
      },
      [
        "warning ENDPOINT_ADDRESS_DUPLICATE endpoints.0.lb_endpoints.1.endpoint.address: expected each address once, got 10.0.0.1:80 again",
        'warning ENDPOINT_ADDRESS_NOT_IP endpoints.0.lb_endpoints.2.endpoint.address.socket_address.address: expected an IP address, got "host"',
        'warning ENDPOINT_LOCALITY_DUPLICATE endpoints.1.locality: expected each locality once per priority, got ["r","",""] in endpoints[0] too: gRPC clients reject it',
        "warning ENDPOINT_ADDRESS_MISSING endpoints.1.lb_endpoints.0.endpoint: expected an address, got none",
        "warning ENDPOINT_LOCALITY_MISSING endpoints.2: expected a locality beside load_balancing_weight: gRPC clients reject it without",
        "warning ENDPOINT_PRIORITY_GAP endpoints: expected priorities from 0 without gaps, got 2 but not 1: gRPC clients reject it",
      ],
    ],
    [
      V3.listener,
      { name: "l" },
      [
        "warning LISTENER_ADDRESS_MISSING : expected an address, an internal_listener or an api_listener, got none: Envoy rejects it",
        "warning LISTENER_FILTER_CHAINS_MISSING : expected filter_chains or a default_filter_chain, got none: Envoy rejects it",
      ],
    ],
    [
      V3.listener,
      {
        name: "l",
        internal_listener: {},
        filter_chains: [
          { filter_chain_match: { server_names: ["a"] } },
          { filter_chain_match: { server_names: ["a"] } },
        ],
      },
      [
        "warning LISTENER_FILTER_CHAIN_DUPLICATE filter_chains.1: expected each filter_chain_match once, got that of filter_chains[0]: Envoy rejects it",
      ],
    ],
    [
      V3.listener,
      { name: "l", api_listener: { api_listener: typed(V3.router, {}) } },
      [
        "warning LISTENER_API_LISTENER_INVALID api_listener: expected an HttpConnectionManager in api_listener: gRPC clients reject anything else",
      ],
    ],
    [
      V3.listener,
      { name: "l", apiListener: { apiListener: typed(V3.http, {}) } },
      [
        "warning LISTENER_API_LISTENER_INVALID apiListener.apiListener: expected rds or a routeConfig, got none: gRPC clients reject it",
        "warning LISTENER_API_LISTENER_INVALID apiListener.apiListener: expected the router as the last of httpFilters, got none: gRPC clients reject it",
      ],
    ],
    [
      V3.listener,
      {
        name: "l",
        api_listener: {
          api_listener: typed(V3.http, {
            xff_num_trusted_hops: 1,
            scoped_routes: {
              name: "s",
              scope_key_builder: { fragments: [] },
              scoped_rds: { scoped_rds_config_source: ADS },
            },
            http_filters: [router, { ...router, name: "again" }],
          }),
        },
      },
      [
        "warning LISTENER_API_LISTENER_INVALID api_listener.api_listener: expected rds or a route_config, got scoped_routes: gRPC clients reject it",
        "warning LISTENER_API_LISTENER_INVALID api_listener.api_listener.http_filters: expected the router as the last of http_filters, got it before others: gRPC clients reject it",
        "warning LISTENER_API_LISTENER_INVALID api_listener.api_listener: expected neither xff_num_trusted_hops nor original_ip_detection_extensions: gRPC clients reject them",
      ],
    ],
    [
      V3.listener,
      {
        name: "l",
        api_listener: {
          api_listener: typed(V3.http, {
            rds: { route_config_name: "r", config_source: { path_config_source: { path: "/r" } } },
            http_filters: [{ name: "a", config_discovery: { config_source: ADS, type_urls: ["a/b"] } }],
          }),
        },
      },
      [
        "warning LISTENER_API_LISTENER_INVALID api_listener.api_listener.rds: expected a config_source of ads or self: gRPC clients reject another",
        "warning LISTENER_API_LISTENER_INVALID api_listener.api_listener.http_filters: expected the router as the last of http_filters, got others: gRPC clients reject it",
      ],
    ],
    [
      V3.listener,
      {
        name: "l",
        api_listener: {
          api_listener: typed(V3.http, {
            rds: { route_config_name: "r", config_source: { self: {} } },
            http_filters: [router, { name: "ours", is_optional: true, typed_config: typed(V3.cluster, { name: "c" }) }],
          }),
        },
      },
      [],
    ],
    [V3.listener, { name: "l", api_listener: { api_listener: typed(MOBILE, { config: {} }) } }, []],
    [
      V3.listener,
      {
        name: "l",
        apiListener: {
          apiListener: typed(V3.http, {
            routeConfig: { virtualHosts: [{ name: "v", domains: ["a", "A"] }] },
            httpFilters: [{ name: "router", typedConfig: typed(V3.router, {}) }],
          }),
        },
      },
      [
        'warning ROUTE_DOMAIN_DUPLICATE apiListener.apiListener.routeConfig.virtualHosts.0.domains.1: expected each domain once, got "A", which the same virtual host has: clients reject it',
      ],
    ],
    [
      V3.route,
      {
        name: "r",
        virtual_hosts: [
          {
            name: "v",
            domains: ["*"],
            routes: [
              { match: { prefix: "/" }, route: { weighted_clusters: { clusters: [{ name: "c", weight: 0 }] } } },
            ],
          },
          { name: "v", domains: ["*"] },
        ],
      },
      [
        "warning ROUTE_WEIGHTS_ZERO virtual_hosts.0.routes.0.route.weighted_clusters: expected weights that add up to more than 0: clients reject it",
        'warning ROUTE_VIRTUAL_HOST_DUPLICATE virtual_hosts.1.name: expected each virtual host once, got "v" again: Envoy rejects it',
        'warning ROUTE_DOMAIN_DUPLICATE virtual_hosts.1.domains.0: expected each domain once, got "*", which the same virtual host has: clients reject it',
      ],
    ],
    [
      V3.scope,
      { name: "s" },
      [
        "warning ROUTE_SCOPE_TARGET_INVALID : expected either route_configuration_name or route_configuration, got none: Envoy rejects it",
      ],
    ],
    [
      V3.wrapper,
      { name: "rc/a", resource: typed(V3.virtualHost, { name: "a", domains: ["a"] }) },
      [
        'warning ROUTE_VIRTUAL_HOST_NAME_DIFFERS resource.name: expected the name "rc/a", which it is sent under, got "a": Envoy can never remove it',
      ],
    ],
    [
      V3.wrapper,
      { name: "a3", resource: typed(V3.virtualHost, { name: "a3", domains: ["a"] }) },
      [
        'warning ROUTE_VIRTUAL_HOST_UNPREFIXED resource: expected a name that begins with that of its route configuration and "/", got "a3": Envoy ignores it',
      ],
    ],
    [
      V3.secret,
      { name: "s" },
      [
        "warning SECRET_EMPTY : expected one of tls_certificate, validation_context, session_ticket_keys, generic_secret, got none",
      ],
    ],
    [
      V3.secret,
      { name: "s", tls_certificate: { private_key: { inline_string: "k" } } },
      [
        "warning SECRET_CERTIFICATE_INCOMPLETE tls_certificate: expected certificate_chain and private_key, or pkcs12: Envoy rejects less",
      ],
    ],
    [
      V3.wrapper,
      { name: "other", resource: typed(V3.runtime, { name: "own" }) },
      ['warning NAME_MISMATCH : expected one name, got "other" around the resource and "own" in it'],
    ],
  ])("%s %j", (message, fields, expected) => {
    const { input, problems } = api.readResource(typed(message, fields));
    expect(lines(problems)).toEqual(expected);
    expect(input).toBeDefined();
  });
});
