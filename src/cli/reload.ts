/** Applies a changed configuration to a running process at SIGHUP. */

import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../config.ts'
import type { ConfigChanges } from '../service/config-reload.ts'
import type { LogLevel } from '../service/log-level.ts'
import type { Terminal } from './terminal.ts'

export interface ReloadOptions {
  readonly log: FastifyBaseLogger
  readonly logLevel: LogLevel
  /** The log level if the configuration does not set one. */
  readonly defaultLevel: string
  /** Throws a ConfigError if the configuration is invalid. */
  readAgain(): Config
  /** Applies the changes, or throws without changing anything. */
  apply(changed: Config): Promise<ConfigChanges>
}

/** Listens for SIGHUP. One that arrives before `start` reloads the configuration when `start` is called. */
export function listenForHangups(terminal: Terminal): { start(options: ReloadOptions): void } {
  let isPending = false
  terminal.onHangup(() => {
    isPending = true
  })
  return {
    start(options) {
      const onHangup = () => void reload(options)
      terminal.onHangup(onHangup)
      if (isPending) onHangup()
    },
  }
}

/** An invalid configuration changes nothing. */
async function reload({ log, logLevel, defaultLevel, readAgain, apply }: ReloadOptions): Promise<void> {
  try {
    const changed = readAgain()
    const { applied, needRestart } = await apply(changed)
    logLevel.configure(changed.log ?? defaultLevel)
    if (needRestart.length === 0) log.info({ applied }, 'SIGHUP received: configuration applied')
    else {
      const keys = { applied, need_restart: needRestart }
      log.warn(keys, 'SIGHUP received: configuration applied, except for keys that are only read at the start')
    }
  } catch (error) {
    log.error(
      { error: (error as Error).message },
      'SIGHUP received: the configuration was not reloaded; nothing has changed',
    )
  }
}
