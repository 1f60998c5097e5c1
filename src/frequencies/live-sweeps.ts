/** The sweeps that analysers push, in the memory of this process: one spectrum for each source. */

import { RequestError } from '../domain/errors.ts'
import { maxSweepSources, maxSweepsPerSecond, type Sweep } from '../domain/frequencies/sweeps/sweep.ts'
import { Topic } from '../platform/topic.ts'
import { LiveSpectrum } from './live-spectrum.ts'

export class LiveSweeps {
  /** A sweep was added. At most as many as are accepted are announced, without a last one that came too soon. */
  readonly received = new Topic<LiveSpectrum>()
  readonly #sources = new Map<string, LiveSpectrum>()

  list(): readonly LiveSpectrum[] {
    return [...this.#sources.values()]
  }

  get(source: string): LiveSpectrum {
    const found = this.#sources.get(source)
    if (found === undefined) throw new RequestError('not_found', { subject: `source ${source}` })
    return found
  }

  /** Throws a `RequestError` if the source is new and there are too many. */
  requireRoom(source: string): void {
    if (this.#sources.has(source) || this.#sources.size < maxSweepSources) return
    throw new RequestError('sweeps_full', { details: `source: at most ${maxSweepSources} sources are kept at a time` })
  }

  /** The time until the source may push another sweep, in milliseconds. */
  waitMs(source: string): number {
    return this.#sources.get(source)?.waitMs(performance.now()) ?? 0
  }

  /** Throws a `RequestError` if there are too many sources or sweeps. The last sweep of a stream may come too soon. */
  add(source: string, sweep: Sweep, isLast = false): void {
    this.requireRoom(source)
    const waitMs = this.waitMs(source)
    if (waitMs > 0 && !isLast) {
      const details = `source: at most ${maxSweepsPerSecond} sweeps a second`
      throw new RequestError('rate_limited', { details, retryAfter: Math.ceil(waitMs / 1000) })
    }
    const known = this.#sources.get(source)
    known?.add(sweep)
    const spectrum = known ?? new LiveSpectrum(source, sweep)
    this.#sources.set(source, spectrum)
    if (waitMs === 0) this.received.publish(spectrum)
  }

  remove(source: string): void {
    this.get(source)
    this.#sources.delete(source)
  }
}
