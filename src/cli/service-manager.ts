/**
 * Notifies systemd: see sd_notify(3). Node.js has no datagram sockets of the Unix domain, so `systemd-notify` sends the
 * messages; the unit needs `NotifyAccess=all`.
 */

import { execFile } from 'node:child_process'
import type { FastifyBaseLogger } from 'fastify'
import type { Terminal } from './terminal.ts'

/** A call blocks while nothing reads the socket. */
const callLimitMs = 5_000

export class ServiceManager {
  readonly #env: Terminal['env']
  readonly #log: FastifyBaseLogger
  #timer: NodeJS.Timeout | undefined
  #hasMoved = true

  constructor(env: Terminal['env'], log: FastifyBaseLogger) {
    this.#env = env
    this.#log = log
  }

  /** Reports that the service is ready, and afterwards that it is alive while `isMoving` returns true. */
  ready(isMoving: () => boolean): void {
    this.#notify('READY=1')
    const limitMs = Number(this.#env.WATCHDOG_USEC) / 1000
    if (limitMs > 0) this.#timer = setInterval(() => this.#beat(isMoving()), limitMs / 3).unref()
  }

  /** Reports that the service stops. The watchdog does not apply any longer. */
  stopping(): void {
    clearInterval(this.#timer)
    this.#notify('STOPPING=1')
  }

  #beat(isMoving: boolean): void {
    if (isMoving) this.#notify('WATCHDOG=1')
    else if (this.#hasMoved) this.#log.error('polling does not move; systemd will restart the service')
    this.#hasMoved = isMoving
  }

  #notify(message: string): void {
    if (this.#env.NOTIFY_SOCKET === undefined) return
    const options = { env: { ...this.#env }, timeout: callLimitMs, killSignal: 'SIGKILL' } as const
    execFile('systemd-notify', [message], options, (error) => {
      if (error !== null) this.#log.warn({ error: error.message }, 'systemd could not be notified')
    })
  }
}
