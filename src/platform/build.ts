/** Values that `npm run build` inserts. Source files that run without a build have no commit and no project. */

export const isBuilt = typeof __MICWATCH_VERSION__ !== 'undefined'
export const version = isBuilt ? __MICWATCH_VERSION__ : 'development'

/** The commit of the sources; null if they came without one. */
export const commit = isBuilt ? __MICWATCH_COMMIT__ : null

/** The repository with the issues; null if the build names none. */
export const projectUrl = isBuilt ? __MICWATCH_PROJECT_URL__ : null

/** As in `1.0.0 (a730052e1d)`. */
export const release = commit === null ? version : `${version} (${commit.slice(0, 10)})`
