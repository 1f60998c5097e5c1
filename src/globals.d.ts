/** The version in package.json, put in by scripts/build.ts. Not there when a source file runs unbuilt: ask `typeof` first. */
declare const __MICWATCH_VERSION__: string
