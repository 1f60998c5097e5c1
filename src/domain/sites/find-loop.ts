/** Detects loops: an installation must not follow itself, directly or through others. */

/** As an installation identifies itself in a snapshot. */
export interface InstallationPath {
  /** Its id. */
  readonly installation: string
  /** The ids of all installations that it follows, directly or through others. */
  readonly via: readonly string[]
}

/** Returns why this installation (`own`) cannot follow the one at `host`, or null. */
export function findLoop(host: string, { installation, via }: InstallationPath, own: string): string | null {
  if (installation === own) return `${host} is this installation: following it would be a loop`
  return via.includes(own) ? `${host} follows this installation: following it would be a loop` : null
}
