// SPDX-License-Identifier: Apache-2.0
// Only what Biome lacks: rules that need types, and the purity of the protocol.
import tseslint from "typescript-eslint";

const pureSyntax = [
  { selector: ":function[async=true]", message: "the protocol has no promises: return effects" },
  { selector: "AwaitExpression", message: "the protocol has no promises: return effects" },
  { selector: "ForOfStatement[await=true]", message: "the protocol has no promises: take events" },
  { selector: "NewExpression[callee.name='Date']", message: "time arrives in events" },
  { selector: "CallExpression[callee.name='Date']", message: "time arrives in events" },
  { selector: "MemberExpression[object.name='Date'][property.name='now']", message: "time arrives in events" },
  { selector: "MemberExpression[object.name='Math'][property.name='random']", message: "chance arrives in events" },
];

const pureGlobals = [
  "Promise",
  "console",
  "process",
  "setTimeout",
  "setInterval",
  "setImmediate",
  "queueMicrotask",
].map((name) => ({ name, message: "the protocol is pure: events in, effects out" }));

const typedRules = {
  // A promise that nobody waits for hides its error.
  "@typescript-eslint/no-floating-promises": "error",
  "@typescript-eslint/no-misused-promises": "error",
  // A union that grows must be seen by every switch over it.
  "@typescript-eslint/switch-exhaustiveness-check": [
    "error",
    { considerDefaultExhaustiveForUnions: true, requireDefaultForNonUnion: false },
  ],
  // Whoever catches reads a code and a cause.
  "@typescript-eslint/only-throw-error": "error",
};

export default tseslint.config(
  {
    ignores: [
      "**/dist/**",
      "**/gen/**",
      "packages/server/console/**",
      "**/node_modules/**",
      ".cache/**",
      "coverage/**",
      "reports/**",
    ],
  },
  {
    files: ["packages/**/*.ts", "test/**/*.ts", "examples/**/*.ts"],
    ignores: ["packages/console/**"],
    plugins: { "@typescript-eslint": tseslint.plugin },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: ["./tsconfig.test.json"], tsconfigRootDir: import.meta.dirname },
    },
    rules: typedRules,
  },
  {
    files: ["packages/console/src/**/*.{ts,tsx}"],
    plugins: { "@typescript-eslint": tseslint.plugin },
    linterOptions: { reportUnusedDisableDirectives: "error" },
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: ["./packages/console/tsconfig.json"], tsconfigRootDir: import.meta.dirname },
    },
    rules: typedRules,
  },
  {
    // L5: one queue of events and one caller. Everything else sees the server machine through the hub.
    files: ["packages/{server,cli,source}/src/**/*.ts"],
    ignores: ["packages/server/src/hub/**", "**/*.test.ts"],
    rules: {
      "@typescript-eslint/no-restricted-imports": [
        "error",
        {
          paths: [
            {
              name: "@xdskit/protocol/internal",
              importNames: ["ServerMachine"],
              allowTypeImports: true,
              message: "only server/hub calls the server machine",
            },
            {
              name: "@xdskit/protocol/internal",
              importNames: ["ClientMachine", "MeshMachine"],
              allowTypeImports: true,
              message: "only the client calls its machines",
            },
          ],
        },
      ],
    },
  },
  {
    // L2: what the compiler cannot see, because it belongs to the language.
    files: ["packages/protocol/src/**/*.ts"],
    ignores: ["**/*.test.ts"],
    rules: {
      "no-restricted-syntax": ["error", ...pureSyntax],
      "no-restricted-globals": ["error", ...pureGlobals],
    },
  },
);
