/**
 * Forecasts how long the batteries of transmitters will last, from recorded discharges. Only the process that receives the
 * reports of a receiver records its batteries; other processes load the stored discharges.
 */

import { hasRow } from '../domain/conditions/condition.ts'
import type { Channel, Receiver } from '../domain/equipment/receiver.ts'
import {
  type Discharge,
  isComparable,
  isUsedUp,
  kindKey,
  observe,
  rateOf,
  toObservation,
} from '../domain/forecast/discharge.ts'
import { forecastBattery, type Reference, toReference } from '../domain/forecast/estimate.ts'
import {
  deviceForecast,
  type Forecast,
  isPlausible,
  isSameForecast,
  roundForecast,
} from '../domain/forecast/forecast.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { Topic } from '../platform/topic.ts'
import type { LeaseManager } from '../sources/lease-manager.ts'
import type { Database } from '../storage/database.ts'
import {
  deleteDischarge,
  keptPerKind,
  listDischarges,
  pruneDischarges,
  type StoredDischarge,
  saveDischarges,
} from '../storage/discharges.ts'
import type { OwnReceivers } from './own-receivers.ts'

interface Subsystems {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly ownReceivers: OwnReceivers
  readonly settings: EffectiveSettings
  readonly leaseManager: LeaseManager
  readonly log: Log
}

/** The battery in a transmitter. */
interface Battery {
  discharge: Discharge
  /** Null if the discharge is not stored. */
  stored: StoredMark | null
  /** Rounded. */
  forecast: Forecast | null
  /** Epoch milliseconds. */
  forecastAt: number
  /** The number of steps of the discharge at that time. */
  forecastSteps: number
}

/** A stored discharge that differs from these values is out of date. */
interface StoredMark {
  readonly isOn: boolean
  readonly observedAt: number
  readonly steps: number
}

const checkEveryMs = 10_000
/** A discharge whose level has not changed is stored this often. */
const saveEveryMs = 5 * 60_000
const renewEveryMs = 60_000
/** The clocks of machines may differ by this much. */
const clockToleranceMs = 60_000

const notStored = 'the discharges of batteries could not be stored'

export class BatteryForecasts {
  /** Contains the id of a receiver whose forecasts have changed. */
  readonly changed = new Topic<number>()
  /** Published after all batteries were checked. */
  readonly checked = new Topic()
  readonly #subsystems: Subsystems
  readonly #now: () => number
  readonly #batteries = new Map<number, Battery>()
  /** The discharges of batteries that were used up, by kind, newest first. */
  readonly #references = new Map<string, readonly Reference[]>()
  /** The rates of these discharges in percent an hour, by kind and by type of battery. */
  readonly #rates = new Map<string, readonly number[]>()
  readonly #known = new Set<string>()
  #ended: StoredDischarge[] = []
  #loadedAt = 0
  #timer: NodeJS.Timeout | undefined
  #checking: Promise<void> = Promise.resolve()
  #isClosed = false
  #hasFailed = false

  /** `clock` returns epoch milliseconds. */
  constructor(subsystems: Subsystems, clock = now) {
    this.#subsystems = subsystems
    this.#now = clock
  }

  async open(): Promise<void> {
    await this.#load()
  }

  start(): void {
    this.#schedule()
  }

  /** Stores the remaining discharges, if the database responds. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#checking
    if (this.#timer === undefined) return
    try {
      await this.#save(true)
    } catch (error) {
      this.#subsystems.log.warn({ error: String(error) }, notStored)
    }
  }

  /** Records the batteries of a receiver after a report that this process received. */
  reported(receiver: Receiver): void {
    if (!receiver.is_active) return
    for (const channel of receiver.channels) this.#observe(receiver, channel)
  }

  /** Returns the forecast that clients receive. */
  forecastOf({ id, slot, transmitter, condition }: Channel): Forecast | null {
    if (transmitter === null) return null
    const reported = deviceForecast(transmitter)
    if (reported !== null) return reported
    const forecast = this.#renewedForecast(id)
    const manufacturer = this.#batteries.get(id)?.discharge.manufacturer
    if (forecast === null || manufacturer === undefined || hasRow(condition, 'battery_critical')) return forecast
    // Conditions count only minutes that the device reports, and nothing may contradict them.
    const { MINUTES_CRITICAL } = this.#subsystems.settings.thresholds(manufacturer, slot)
    return forecast.minutes_left < MINUTES_CRITICAL ? null : forecast
  }

  /** Returns the forecast of this moment, not rounded. */
  currentForecast({ id, transmitter }: Channel): Forecast | null {
    if (transmitter === null) return null
    const battery = this.#batteries.get(id)
    return deviceForecast(transmitter) ?? (battery === undefined ? null : this.#estimate(battery.discharge))
  }

  /** Returns the start of use of the battery of a channel's transmitter (epoch ms); null if unknown. */
  batterySince(channelId: number): number | null {
    return this.#batteries.get(channelId)?.discharge.startedAt ?? null
  }

  /** Records and forecasts all batteries now. Never throws. */
  async check(): Promise<void> {
    const { receiverStore, ownReceivers, leaseManager, log } = this.#subsystems
    try {
      if (leaseManager.hasOtherNodes) await this.#load()
      for (const { id } of receiverStore.listFacts()) {
        const receiver = receiverStore.facts(id)
        if (receiver === undefined) continue
        // A receiver that was loaded from the database contains the last report to an earlier process.
        if (ownReceivers.has(id) && receiverStore.lastReceivedAt(id) !== Number.NEGATIVE_INFINITY)
          this.reported(receiver)
        if (receiver.channels.some((channel) => this.#isOutdated(channel))) this.changed.publish(id)
        if (isTimeSliceUsed()) await yieldToEventLoop()
      }
      await this.#save(false)
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed) log.warn({ error: String(error) }, notStored)
      this.#hasFailed = true
    }
    this.checked.publish()
  }

  #schedule(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#checking = this.check().finally(() => this.#schedule())
    }, checkEveryMs)
  }

  #isOutdated(channel: Channel): boolean {
    return !isSameForecast(channel.forecast, this.forecastOf(channel))
  }

  #observe(receiver: Receiver, channel: Channel): void {
    const { transmitter, condition, id } = channel
    if (hasRow(condition, 'stale')) return
    const observation = transmitter && toObservation(transmitter, receiver)
    // A transmitter that is on may report no battery.
    if (transmitter !== null && observation === null) return
    const battery = this.#batteries.get(id)
    const discharge = observe(battery?.discharge ?? null, observation, this.#now())
    if (discharge === null) return
    if (battery === undefined || battery.discharge.startedAt !== discharge.startedAt) {
      if (battery !== undefined) this.#end(id, battery.discharge)
      this.#batteries.set(id, newBattery(discharge))
    } else battery.discharge = discharge
  }

  /** Forecasts again after each step of the discharge, and every minute. */
  #renewedForecast(channelId: number): Forecast | null {
    const battery = this.#batteries.get(channelId)
    if (battery === undefined) return null
    const { discharge, forecastAt, forecastSteps } = battery
    const now = this.#now()
    if (forecastSteps !== discharge.steps.length || Math.abs(now - forecastAt) >= renewEveryMs) {
      const forecast = this.#estimate(discharge)
      battery.forecast = forecast && roundForecast(forecast)
      battery.forecastAt = now
      battery.forecastSteps = discharge.steps.length
    }
    return battery.forecast
  }

  #estimate(discharge: Discharge): Forecast | null {
    const { isOn, observedAt } = discharge
    // Another process may have observed the battery last.
    const onMs = discharge.onMs + (isOn ? Math.min(saveEveryMs, Math.max(0, this.#now() - observedAt)) : 0)
    const measured = this.#references.get(kindKey(discharge)) ?? []
    const estimated = forecastBattery({ ...discharge, onMs }, measured)
    if (estimated === null) return null
    const rates = {
      ofModel: this.#rates.get(kindKey(discharge)) ?? none,
      ofType: this.#rates.get(typeKey(discharge)) ?? none,
    }
    if (!isPlausible(discharge.percent, estimated.minutes_left, rates)) return null
    return { ...estimated, source: 'history' }
  }

  #end(channelId: number, discharge: Discharge): void {
    const ended: StoredDischarge = { channelId, discharge, endedAt: discharge.observedAt }
    this.#ended.push(ended)
    this.#learn(ended)
  }

  #learn({ channelId, discharge }: StoredDischarge): void {
    const id = `${channelId} ${discharge.startedAt}`
    if (this.#known.has(id) || !isComparable(discharge) || !isUsedUp(discharge)) return
    this.#known.add(id)
    const key = kindKey(discharge)
    const before = this.#references.get(key) ?? []
    this.#references.set(key, [toReference(discharge), ...before].slice(0, keptPerKind))
    for (const name of [key, typeKey(discharge)]) {
      this.#rates.set(name, [rateOf(discharge), ...(this.#rates.get(name) ?? none)].slice(0, keptPerKind))
    }
  }

  async #save(isClosing: boolean): Promise<void> {
    const now = this.#now()
    const ended = this.#ended
    const changed = [...this.#batteries].filter(([, battery]) => needsSaving(battery, isClosing, now))
    if (ended.length + changed.length === 0) return
    const open = changed.map(([channelId, battery]) => ({
      battery,
      channelId,
      discharge: battery.discharge,
      endedAt: null,
    }))
    const saved = [...ended.filter(({ discharge }) => isComparable(discharge)), ...open]
    const removed = ended.filter(({ discharge }) => !isComparable(discharge))
    await this.#subsystems.db.transaction(async (tx) => {
      await saveDischarges(tx, saved, now)
      for (const discharge of removed) await deleteDischarge(tx, discharge)
      if (saved.some(({ endedAt }) => endedAt !== null)) await pruneDischarges(tx, now)
    })
    this.#ended = this.#ended.slice(ended.length)
    for (const { battery, discharge } of open) battery.stored = toMark(discharge)
  }

  async #load(): Promise<void> {
    const { db, receiverStore, ownReceivers } = this.#subsystems
    const startedAt = this.#now()
    const own = new Set<number>()
    for (const receiver of receiverStore.listFacts()) {
      if (ownReceivers.has(receiver.id)) for (const { id } of receiver.channels) own.add(id)
    }
    for (const stored of await listDischarges(db.read, this.#loadedAt - clockToleranceMs)) {
      const { channelId, discharge, endedAt } = stored
      if (endedAt !== null) this.#learn(stored)
      const known = this.#batteries.get(channelId)?.discharge
      const isNewer = known === undefined || discharge.observedAt > known.observedAt
      const isOwn = known !== undefined && own.has(channelId)
      if (endedAt !== null || isOwn || !isNewer) continue
      this.#batteries.set(channelId, { ...newBattery(discharge), stored: toMark(discharge) })
    }
    this.#loadedAt = startedAt
  }
}

const none: readonly number[] = []

function typeKey({ batteryType }: Discharge): string {
  return JSON.stringify(batteryType)
}

function newBattery(discharge: Discharge): Battery {
  return { discharge, stored: null, forecast: null, forecastAt: Number.NEGATIVE_INFINITY, forecastSteps: 0 }
}

function needsSaving({ discharge, stored }: Battery, isClosing: boolean, now: number): boolean {
  if (stored === null) return true
  if (stored.steps !== discharge.steps.length || stored.isOn !== discharge.isOn) return true
  return isClosing ? stored.observedAt !== discharge.observedAt : now - stored.observedAt >= saveEveryMs
}

function toMark({ steps, isOn, observedAt }: Discharge): StoredMark {
  return { steps: steps.length, isOn, observedAt }
}
