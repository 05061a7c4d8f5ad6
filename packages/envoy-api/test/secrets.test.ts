import { describe, expect, it } from "vitest";
import { api, encode, typed, url, V3 } from "./support/api.ts";

// In no message, path, hint or print may any of these be seen, nor what base64 makes of it.
const KEY = "KEY-c2VjcmV0-1";
const PASSWORD = "hunter2-correct-horse";
const TICKET = "ticket-0123456789";
const BYTES = Buffer.from("raw-secret-bytes-1");

const secrets = [
  KEY,
  PASSWORD,
  TICKET,
  BYTES.toString(),
  BYTES.toString("base64"),
  Buffer.from(KEY).toString("base64"),
];

function expectNoSecret(printed: unknown): void {
  const text = typeof printed === "string" ? printed : JSON.stringify(printed);
  expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
}

const certificate = {
  certificate_chain: { inline_string: "a certificate" },
  private_key: { inline_string: KEY },
  password: { inline_string: PASSWORD },
  watched_directory: { path: "/certs" },
};

const values: (readonly [string, string, object, object])[] = [
  [
    "a key and its password",
    V3.secret,
    { name: "s", tls_certificate: certificate },
    {
      name: "s",
      tls_certificate: {
        certificate_chain: { inline_string: "a certificate" },
        private_key: { inline_string: "[redacted]" },
        password: { inline_string: "[redacted]" },
        watched_directory: { path: "/certs" },
      },
    },
  ],
  [
    "a key in a file, which is no secret",
    V3.secret,
    {
      name: "s",
      tls_certificate: { private_key: { filename: "/certs/key.pem" }, password: { environment_variable: "PASSWORD" } },
    },
    {
      name: "s",
      tls_certificate: { private_key: { filename: "/certs/key.pem" }, password: { environment_variable: "PASSWORD" } },
    },
  ],
  [
    "session ticket keys",
    V3.secret,
    {
      name: "s",
      session_ticket_keys: { keys: [{ inline_string: TICKET }, { inline_bytes: BYTES.toString("base64") }] },
    },
    { name: "s", session_ticket_keys: { keys: [{ inline_string: "[redacted]" }, { inline_bytes: "[redacted]" }] } },
  ],
  [
    "a generic secret",
    V3.secret,
    { name: "s", generic_secret: { secret: { inline_bytes: BYTES.toString("base64") } } },
    { name: "s", generic_secret: { secret: { inline_bytes: "[redacted]" } } },
  ],
  [
    "a private key provider, known or not",
    V3.secret,
    {
      name: "s",
      tls_certificate: {
        private_key_provider: {
          provider_name: "p",
          typed_config: { "@type": url("acme.Keys"), value: BYTES.toString("base64") },
        },
      },
    },
    {
      name: "s",
      tls_certificate: {
        private_key_provider: { provider_name: "p", typed_config: { "@type": url("acme.Keys"), value: "[redacted]" } },
      },
    },
  ],
  [
    "secrets that Envoy's files do not mark, and headers that prove who sends them",
    V3.route,
    {
      name: "r",
      request_headers_to_add: [
        { header: { key: "Authorization", value: `Bearer ${PASSWORD}` } },
        { header: { key: "x-api-key", value: KEY } },
        { header: { key: "x-team", value: "a" } },
      ],
      typed_per_filter_config: {
        als: typed("envoy.config.core.v3.GrpcService", {
          google_grpc: { call_credentials: [{ access_token: TICKET }] },
        }),
      },
    },
    {
      name: "r",
      request_headers_to_add: [
        { header: { key: "Authorization", value: "[redacted]" } },
        { header: { key: "x-api-key", value: "[redacted]" } },
        { header: { key: "x-team", value: "a" } },
      ],
      typed_per_filter_config: {
        als: typed("envoy.config.core.v3.GrpcService", {
          google_grpc: { call_credentials: [{ access_token: "[redacted]" }] },
        }),
      },
    },
  ],
  [
    "a key inside a Listener, two Anys deep",
    V3.listener,
    {
      name: "l",
      filter_chains: [
        {
          transport_socket: {
            name: "tls",
            typed_config: typed("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", {
              common_tls_context: { tls_certificates: [{ private_key: { inline_string: KEY } }] },
            }),
          },
        },
      ],
    },
    {
      name: "l",
      filter_chains: [
        {
          transport_socket: {
            name: "tls",
            typed_config: typed("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", {
              common_tls_context: { tls_certificates: [{ private_key: { inline_string: "[redacted]" } }] },
            }),
          },
        },
      ],
    },
  ],
];

const struct = { "@type": url("google.protobuf.Struct") };
const untyped = {
  client_secret: KEY,
  clientSecret: KEY,
  "x-api-key": TICKET,
  password: { inline_string: PASSWORD, environment_variable: "PASSWORD" },
  passphrase: 1234,
  pin_password: { value: 1234 },
  credential: { inline_string: PASSWORD },
  reached_secret: { name: "k", sds_config: { google_grpc: { call_credentials: [{ access_token: PASSWORD }] } } },
  credentials: { client_id: "edge", hmac_secret: [KEY] },
  headers: [{ key: "authorization", value: PASSWORD }],
  certificate: `-----BEGIN RSA PRIVATE KEY-----\n${KEY}\n-----END RSA PRIVATE KEY-----`,
  token_secret: { name: "token", sds_config: { ads: {} } },
  token_bucket: { max_tokens: 5, fill_interval: "1s" },
  token_endpoint: "https://id.example/token",
  secret_name: "edge-key",
  inline_string: "function envoy_on_request() end",
};
const untypedRedacted = {
  ...untyped,
  client_secret: "[redacted]",
  clientSecret: "[redacted]",
  "x-api-key": "[redacted]",
  password: { inline_string: "[redacted]", environment_variable: "PASSWORD" },
  passphrase: "[redacted]",
  pin_password: { value: "[redacted]" },
  credential: { inline_string: "[redacted]" },
  reached_secret: { name: "k", sds_config: { google_grpc: { call_credentials: [{ access_token: "[redacted]" }] } } },
  credentials: { client_id: "edge", hmac_secret: ["[redacted]"] },
  headers: [{ key: "authorization", value: "[redacted]" }],
  certificate: "[redacted]",
};
values.push(
  [
    "a token to reach a server with, in no Any",
    V3.cluster,
    {
      name: "c",
      eds_cluster_config: {
        eds_config: {
          api_config_source: { grpc_services: [{ google_grpc: { call_credentials: [{ access_token: TICKET }] } }] },
        },
      },
    },
    {
      name: "c",
      eds_cluster_config: {
        eds_config: {
          api_config_source: {
            grpc_services: [{ google_grpc: { call_credentials: [{ access_token: "[redacted]" }] } }],
          },
        },
      },
    },
  ],
  [
    "passwords in untyped configuration, by their keys",
    V3.cluster,
    { name: "c", metadata: { filter_metadata: { "acme.lb": untyped, plain: { weight: 1 } } } },
    { name: "c", metadata: { filter_metadata: { "acme.lb": untypedRedacted, plain: { weight: 1 } } } },
  ],
  [
    "those in a TypedStruct, and in a Struct that is an Any",
    V3.route,
    {
      name: "r",
      typed_per_filter_config: {
        typed: typed("xds.type.v3.TypedStruct", { type_url: url("acme.Filter"), value: untyped }),
        struct: { ...struct, value: untyped },
        value: { "@type": url("google.protobuf.Value"), value: { nested: [untyped] } },
      },
    },
    {
      name: "r",
      typed_per_filter_config: {
        typed: typed("xds.type.v3.TypedStruct", { type_url: url("acme.Filter"), value: untypedRedacted }),
        struct: { ...struct, value: untypedRedacted },
        value: { "@type": url("google.protobuf.Value"), value: { nested: [untypedRedacted] } },
      },
    },
  ],
  [
    "a private key in a list",
    V3.route,
    { name: "r", virtual_hosts: [{ name: "v", domains: ["a", `-----BEGIN PRIVATE KEY-----\n${KEY}`] }] },
    { name: "r", virtual_hosts: [{ name: "v", domains: ["a", "[redacted]"] }] },
  ],
  [
    "a private key beside its certificate, in a field that is not secret",
    V3.secret,
    {
      name: "s",
      tls_certificate: { certificate_chain: { inline_string: `a\n-----BEGIN PRIVATE KEY-----\n${KEY}` } },
    },
    { name: "s", tls_certificate: { certificate_chain: { inline_string: "[redacted]" } } },
  ],
);

describe("what is redacted", () => {
  it.each(values)("%s", (_, message, fields, redacted) => {
    const bytes = encode(typed(message, fields));
    const json = api.toJson(url(message), bytes, { redact: true, names: "proto" });
    expect(json).toEqual(typed(message, redacted));
    expect(api.holdsSecret(url(message), bytes)).toBe(JSON.stringify(redacted) !== JSON.stringify(fields));
    const text = api.toText(url(message), bytes, { redact: true });
    expectNoSecret([json, text]);
    expect(api.toJson(url(message), bytes, { names: "proto" })).toEqual(typed(message, fields));
  });

  it("is what nobody can read in a Secret", () => {
    // Field 999 of a Secret, of a later Envoy.
    const bytes = Buffer.concat([
      encode(typed(V3.secret, { name: "s" })),
      Buffer.from([0xba, 0x3e, KEY.length]),
      Buffer.from(KEY),
    ]);
    const printed = [
      api.toJson(url(V3.secret), bytes, { redact: true }),
      api.toText(url(V3.secret), bytes, { redact: true }),
    ];
    expectNoSecret(printed);
    expect(printed[0]).toEqual(typed(V3.secret, { name: "s" }));
  });
});

describe("problems in a secret never quote it", () => {
  it.each<[string, object]>([
    ["text where an object is wanted", { name: "s", tls_certificate: KEY }],
    ["text where a DataSource is wanted", { name: "s", tls_certificate: { private_key: KEY, password: PASSWORD } }],
    ["text where bytes are wanted", { name: "s", generic_secret: { secret: { inline_bytes: `${KEY}!` } } }],
    ["a list of text", { name: "s", session_ticket_keys: { keys: [TICKET, TICKET] } }],
    ["text where a list is wanted", { name: "s", session_ticket_keys: { keys: TICKET } }],
    ["text where a type is wanted", { name: "s", tls_certificate: { private_key_provider: { typed_config: KEY } } }],
    ["half a surrogate pair", { name: "s", generic_secret: { secret: { inline_string: `${KEY}\ud800` } } }],
    [
      "text where a number is wanted",
      { name: "s", validation_context: { verify_certificate_hash: [5], trust_chain_verification: KEY } },
    ],
    [
      "two sources",
      { name: "s", generic_secret: { secret: { inline_string: KEY, inline_bytes: BYTES.toString("base64") } } },
    ],
    [
      "a timestamp",
      { name: "s", tls_certificate: { private_key: { inline_string: KEY }, watched_directory: PASSWORD } },
    ],
  ])("%s", (_, fields) => {
    const inResource = api.readResource(typed(V3.secret, fields));
    const inWrapper = api.readResource(typed(V3.wrapper, { name: "s", resource: typed(V3.secret, fields) }));
    expect(inResource.problems.length).toBeGreaterThan(0);
    expect(inWrapper.problems.length).toBeGreaterThan(0);
    expectNoSecret([inResource.problems, inWrapper.problems]);
  });

  it("nor inside a Listener", () => {
    const fields = {
      common_tls_context: { tls_certificates: [{ private_key: KEY, password: { inline_bytes: `${PASSWORD}!` } }] },
    };
    const socket = {
      name: "t",
      typed_config: typed("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", fields),
    };
    const { problems } = api.readResource(
      typed(V3.listener, { name: "l", filter_chains: [{ transport_socket: socket }] }),
    );
    expect(problems.length).toBe(2);
    expectNoSecret(problems);
  });

  it("nor when rules are broken", () => {
    const fields = { name: "s", tls_certificate: { private_key: { inline_string: "" }, password: { filename: "" } } };
    const problems = api.validate(url(V3.secret), encode(typed(V3.secret, fields)));
    expect(problems.map(({ code, path }) => [code, path.join(".")])).toEqual([
      ["PGV_MIN_LEN", "tls_certificate.password.filename"],
    ]);
  });

  it("nor when its text format is broken", () => {
    const text = `name: "s"\ntls_certificate { private_key { inline_string: "${KEY}" "${PASSWORD}" nope: 1 } }`;
    const { problems } = api.readText(V3.secret, text);
    expect(problems.map(({ line, column }) => [line, column])).toEqual([[2, 89]]);
    expectNoSecret(problems);
    const unquoted = api.readText(V3.secret, `name: "s" generic_secret { secret { inline_string: ${KEY} } }`);
    expect(unquoted.problems).toHaveLength(1);
    expectNoSecret(unquoted.problems);
    const unquotedPassword = api.readText(V3.secret, `name: "s" generic_secret { secret { inline_string: hunter2 } }`);
    expect(unquotedPassword.problems.map(({ message }) => message.endsWith("got something else"))).toEqual([true]);
    const asBytes = api.readText(V3.secret, `name: "s" generic_secret { secret: "${KEY}" }`);
    expect(asBytes.problems).toHaveLength(1);
    expectNoSecret(asBytes.problems);
  });
});

const MARK = `expected a secret, got "[redacted]", which stands for one where it must not be shown`;

describe("a secret that was redacted", () => {
  it.each<[string, object, readonly string[]]>([
    [V3.secret, { name: "s", tls_certificate: certificate }, []],
    [
      V3.secret,
      { name: "s", tls_certificate: { ...certificate, private_key: { inline_string: "[redacted]" } } },
      ["tls_certificate.private_key.inline_string"],
    ],
    [
      V3.secret,
      { name: "s", generic_secret: { secret: { inline_bytes: Buffer.from("[redacted]").toString("base64") } } },
      ["generic_secret.secret.inline_bytes"],
    ],
    [
      V3.route,
      {
        name: "r",
        request_headers_to_add: [
          { header: { key: "x-team", value: "[redacted]" } },
          { header: { key: "authorization", value: "[redacted]" } },
        ],
      },
      ["request_headers_to_add.1.header.value"],
    ],
  ])("%s %j", (message, fields, paths) => {
    const found = api.checkRedacted(url(message), encode(typed(message, fields)));
    expect(found).toEqual(
      paths.map((path) => ({
        code: "SECRET_REDACTED",
        severity: "error",
        path: path.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step)),
        message: MARK,
        hint: "put the secret in its place",
      })),
    );
  });
});

describe("a secret inline in a TLS context", () => {
  const warnings = (message: string, fields: object): readonly string[] =>
    api
      .readResource(typed(message, fields))
      .problems.map(({ severity, code, path }) => `${severity} ${code} ${path.join(".")}`);
  const socket = (side: string, fields: object): object => ({
    name: "tls",
    typed_config: typed(`envoy.extensions.transport_sockets.tls.v3.${side}TlsContext`, fields),
  });

  it("is a warning in a Listener and in a Cluster", () => {
    const common_tls_context = {
      tls_certificates: [
        { certificate_chain: { inline_string: "c" }, private_key: { filename: "/k.pem" } },
        {
          certificate_chain: { inline_string: "c" },
          private_key: { inline_string: KEY },
          password: { inline_string: PASSWORD },
        },
      ],
    };
    const listener = {
      name: "l",
      address: { socket_address: { address: "127.0.0.1", port_value: 80 } },
      filter_chains: [
        {
          transport_socket: socket("Downstream", {
            common_tls_context,
            session_ticket_keys: { keys: [{ inline_string: TICKET }] },
          }),
        },
      ],
    };
    const inSocket = "transport_socket.typed_config";
    expect(warnings(V3.listener, listener)).toEqual([
      `warning SECRET_INLINE filter_chains.0.${inSocket}.session_ticket_keys.keys.0`,
      `warning SECRET_INLINE filter_chains.0.${inSocket}.common_tls_context.tls_certificates.1.private_key`,
      `warning SECRET_INLINE filter_chains.0.${inSocket}.common_tls_context.tls_certificates.1.password`,
    ]);
    const cluster = { name: "c", type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED" };
    expect(warnings(V3.cluster, { ...cluster, transport_socket: socket("Upstream", { common_tls_context }) })).toEqual([
      `warning SECRET_INLINE ${inSocket}.common_tls_context.tls_certificates.1.private_key`,
      `warning SECRET_INLINE ${inSocket}.common_tls_context.tls_certificates.1.password`,
    ]);
  });

  it("is none in a Secret", () => {
    expect(warnings(V3.secret, { name: "s", tls_certificate: certificate })).toEqual([]);
  });
});
