/** The version in package.json, put in by scripts/build.ts. Not there when a source file runs unbuilt: ask `typeof` first. */
declare const __MICWATCH_VERSION__: string

/** The versions of Node.js in package.json, put in by scripts/build.ts; in src/start.ts alone. */
declare const __MICWATCH_NODE_RANGE__: string
