/** Compares a changed configuration with the running one: which keys a running service applies, and which not. */

import type { Config } from '../config.ts'
import { findChangedKeys } from '../domain/json.ts'
import { Semaphore } from '../platform/concurrency.ts'

/** The keys that a running service applies. All others are only read when it starts. */
const reloadableKeys = [
  'server.allowed_hosts',
  'server.trusted_proxies',
  'rate_limit',
  'settings',
  'manufacturers',
  'discovery_ranges',
  'discovery_interfaces',
  'log',
]

export interface ConfigChanges {
  /** The changed keys that a running service applies. */
  readonly applied: readonly string[]
  /** The changed keys that require a restart. */
  readonly needRestart: readonly string[]
}

/** Holds the configuration in force. */
export class ConfigReloader {
  readonly #reloads = new Semaphore(1)
  #current: Config

  constructor(config: Config) {
    this.#current = config
  }

  get current(): Config {
    return this.#current
  }

  /** Calls `apply` with the configuration as it will be, if a reloadable key has changed. Nothing changes if it throws. */
  reload(changed: Config, apply: (next: Config) => Promise<void>): Promise<ConfigChanges> {
    return this.#reloads.run(async () => {
      const changes = compareConfigs(this.#current, changed)
      if (changes.applied.length === 0) return changes
      const next = mergeReloadable(this.#current, changed)
      await apply(next)
      this.#current = next
      return changes
    })
  }

  /** Resolves when no reload is running. */
  idle(): Promise<void> {
    return this.#reloads.run(async () => {})
  }
}

function compareConfigs(running: Config, changed: Config): ConfigChanges {
  const keys = findChangedKeys(running, { ...changed, file: running.file })
  return { applied: keys.filter(isReloadable), needRestart: keys.filter((key) => !isReloadable(key)) }
}

/** Returns the running configuration with the keys that a running service applies. */
function mergeReloadable(running: Config, changed: Config): Config {
  const { rate_limit, settings, manufacturers, discovery_ranges, discovery_interfaces, log } = changed
  const { allowed_hosts, trusted_proxies } = changed.server
  const server = { ...running.server, allowed_hosts, trusted_proxies }
  const discovery = { discovery_ranges, discovery_interfaces }
  return Object.freeze({ ...running, ...discovery, server, rate_limit, settings, manufacturers, log })
}

function isReloadable(key: string): boolean {
  return reloadableKeys.some((reloadable) => key === reloadable || key.startsWith(`${reloadable}.`))
}
