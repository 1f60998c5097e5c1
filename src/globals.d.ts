/**
 * The version, the commit and the project of the build, inserted by scripts/build.ts. They are undefined when source files run
 * without a build, so check `typeof` first.
 */
declare const __MICWATCH_VERSION__: string
declare const __MICWATCH_COMMIT__: string | null
declare const __MICWATCH_PROJECT_URL__: string | null

/** The Node.js versions in package.json, inserted by scripts/build.ts into src/main.ts only. */
declare const __MICWATCH_NODE_RANGE__: string
