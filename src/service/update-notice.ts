/** Reads once a day which version is the latest. The request contains nothing about this installation. */

import type { UpdateNoticeConfig } from '../config.ts'
import { isNewer, type Release, toRelease } from '../domain/release.ts'
import type { Outbound } from '../manufacturers/sources.ts'
import type { Log } from '../platform/log.ts'
import { pause } from '../platform/wait.ts'
import { createUpstreamClient } from '../upstream/client.ts'
import { withoutLinkLocal } from '../upstream/destinations.ts'
import { ApiError, ApiRateLimitError } from '../upstream/errors.ts'

const dayMs = 86_400_000
const timeoutMs = 10_000

export class UpdateNotice {
  readonly #url: URL
  readonly #outbound: Outbound
  readonly #log: Log
  #latest: Release | null = null

  constructor({ url }: UpdateNoticeConfig, { outbound, log }: { readonly outbound: Outbound; readonly log: Log }) {
    this.#url = new URL(url)
    this.#outbound = outbound
    this.#log = log
  }

  /** Returns the latest version if it is newer than this one; null if it is not, or is not known. */
  newerThan(version: string): Release | null {
    return this.#latest !== null && isNewer(this.#latest.version, version) ? this.#latest : null
  }

  /** Reads at the start and then once a day, even after a failure, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    do {
      try {
        this.#latest = await this.#read(signal)
      } catch (error) {
        if (!signal.aborted) this.#log.warn({ error: String(error) }, 'the latest version could not be read')
      }
    } while (await pause(dayMs, signal))
  }

  async #read(signal: AbortSignal): Promise<Release> {
    const { origin, pathname, search, host } = this.#url
    const client = createUpstreamClient({
      settings: {
        baseUrl: origin,
        timeoutMs,
        rateLimit: { perSecond: 1, burst: 1 },
        credentials: { scheme: 'none' },
        verifySsl: true,
      },
      errors: { ApiError, ApiRateLimitError },
      destinations: withoutLinkLocal(this.#outbound.destinations),
    })
    try {
      const { body } = await client.request('GET', pathname + search, { headers: { 'user-agent': 'Micwatch' }, signal })
      const release = toRelease(body)
      if (release === null) throw new Error(`expected {version, url} from ${host}`)
      return release
    } finally {
      await client.close()
    }
  }
}
