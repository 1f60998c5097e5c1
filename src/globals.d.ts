/**
 * The version in package.json, inserted by scripts/build.ts. It is undefined when source files run without a build, so
 * check `typeof` first.
 */
declare const __MICWATCH_VERSION__: string

/** The Node.js versions in package.json, inserted by scripts/build.ts into src/main.ts only. */
declare const __MICWATCH_NODE_RANGE__: string
