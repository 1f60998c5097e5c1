/** Compares a changed configuration with the running one: which keys a running service applies, and which not. */

import type { Config } from '../config.ts'
import { findChangedKeys } from '../domain/changed-keys.ts'

/** The keys that a running service applies. All others are only read when it starts. */
const reloadableKeys = [
  'server.allowed_hosts',
  'server.trusted_proxies',
  'rate_limit',
  'settings',
  'manufacturers',
  'discovery_ranges',
  'log',
]

export interface ConfigChanges {
  /** The changed keys that a running service applies. */
  readonly applied: readonly string[]
  /** The changed keys that require a restart. */
  readonly needRestart: readonly string[]
}

export function compareConfigs(running: Config, changed: Config): ConfigChanges {
  const keys = findChangedKeys(running, { ...changed, file: running.file })
  return { applied: keys.filter(isReloadable), needRestart: keys.filter((key) => !isReloadable(key)) }
}

/** Returns the running configuration with the keys that a running service applies. */
export function mergeReloadable(running: Config, changed: Config): Config {
  const { rate_limit, settings, manufacturers, discovery_ranges, log } = changed
  const { allowed_hosts, trusted_proxies } = changed.server
  const server = { ...running.server, allowed_hosts, trusted_proxies }
  return Object.freeze({ ...running, server, rate_limit, settings, manufacturers, discovery_ranges, log })
}

function isReloadable(key: string): boolean {
  return reloadableKeys.some((reloadable) => key === reloadable || key.startsWith(`${reloadable}.`))
}
