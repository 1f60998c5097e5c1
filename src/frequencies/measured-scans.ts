/** Reads the scans that checks and suggestions consider, without the carriers of this installation. */

import type { MeasuredBody } from '../contract/frequencies.ts'
import { localSite } from '../domain/equipment/sites.ts'
import { RequestError } from '../domain/errors.ts'
import { type Carrier, defaultOccupiedKhz, parseMhz } from '../domain/frequencies/carrier.ts'
import { type Measured, type MeasuredScan, withoutCarriers } from '../domain/frequencies/measured.ts'
import { stepOf } from '../domain/frequencies/scans/scan.ts'
import type { Scan } from '../domain/frequencies/scans/stored-scan.ts'
import type { StoredLists } from '../lists/stored-lists.ts'
import { LruMap } from '../platform/cache.ts'
import { now } from '../platform/clock.ts'
import { listChannelStatesDuring } from '../storage/channel-states.ts'
import type { Database } from '../storage/database.ts'
import { findScanLevels } from '../storage/frequencies.ts'
import type { LiveFrequencies } from './live-frequencies.ts'

/** Enough for the scans of a few requests at once. */
const maxKept = 16
/** The states of channels are stored at most this long after they changed. */
const statesStoredAfterMs = 5000
/** Carriers that were on at any time during this period before a scan are in it. */
const scanningMs = 60_000
const hourMs = 3_600_000

export type MeasuredOptions = Omit<MeasuredBody, 'version'>

export class MeasuredScans {
  readonly #db: Database
  readonly #lists: StoredLists
  readonly #frequencies: LiveFrequencies
  readonly #kept = new LruMap<string, Promise<MeasuredScan | null>>(maxKept)

  constructor(db: Database, lists: StoredLists, frequencies: LiveFrequencies) {
    this.#db = db
    this.#lists = lists
    this.#frequencies = frequencies
  }

  /** Returns the default of the installation, without deleted scans. */
  defaults(): MeasuredBody {
    const { measured, scans } = this.#lists.current
    return { ...measured, scan_ids: measured.scan_ids.filter((id) => scans.some((scan) => scan.id === id)) }
  }

  /** Throws a RequestError for an unknown scan. */
  requireScans(ids: readonly number[], field: string): void {
    const unknown = ids.find((id) => !this.#lists.current.scans.some((scan) => scan.id === id))
    if (unknown === undefined) return
    throw new RequestError('bad_request', { details: `${field}: there is no scan ${unknown}` })
  }

  /** Skips scans that are too old. */
  async read(options: MeasuredOptions): Promise<Measured> {
    const { scan_ids, max_age_hours } = options
    const oldest = max_age_hours === null ? Number.NEGATIVE_INFINITY : now() - max_age_hours * hourMs
    const chosen = this.#lists.current.scans.filter((scan) => scan_ids.includes(scan.id) && madeAt(scan) >= oldest)
    const scans = await Promise.all(chosen.map((scan) => this.#readScan(scan)))
    return {
      scans: scans.filter((scan) => scan !== null),
      excludeAboveDbm: options.exclude_above_dbm,
      peakAboveDbm: options.peak_above_dbm,
      peakSpacingKhz: options.peak_spacing_khz,
      hasPeakProducts: options.peak_products,
    }
  }

  #readScan(scan: Scan): Promise<MeasuredScan | null> {
    const key = `${scan.id} ${scan.version}`
    const known = this.#kept.get(key)
    if (known !== undefined) return known
    const reading = this.#load(scan)
    if (now() - madeAt(scan) > statesStoredAfterMs) {
      this.#kept.set(key, reading)
      reading.catch(() => this.#kept.delete(key))
    }
    return reading
  }

  async #load(scan: Scan): Promise<MeasuredScan | null> {
    const levels = await findScanLevels(this.#db.read, scan.id)
    if (levels === undefined) return null
    // Versions that did not store it.
    const stepKhz = scan.step_hz === null ? stepOf(Float64Array.from(levels.khz)) : scan.step_hz / 1000
    return withoutCarriers({ id: scan.id, stepKhz, ...levels }, await this.#listOwn(madeAt(scan)))
  }

  /** Returns the carriers that were on shortly before a time, as recorded. */
  async #listOwn(time: number): Promise<readonly Pick<Carrier, 'khz' | 'occupiedKhz'>[]> {
    const states = await listChannelStatesDuring(this.#db.read, { from: time - scanningMs, to: time })
    const carriers = this.#frequencies.carriers(localSite)
    const widths = new Map(carriers.map(({ channelId, profile }) => [channelId, profile.occupied_khz]))
    return states.flatMap(({ channel_id, state }) => {
      const khz = state.transmitter === null ? null : parseMhz(state.frequency ?? '')
      return khz === null ? [] : [{ khz, occupiedKhz: widths.get(channel_id) ?? defaultOccupiedKhz }]
    })
  }
}

function madeAt({ taken_at, uploaded_at }: Scan): number {
  return taken_at ?? uploaded_at
}
