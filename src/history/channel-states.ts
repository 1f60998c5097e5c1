/**
 * Records the state of each channel, except its levels, whenever it changes, so that a past moment can be shown. Only
 * the process that evaluates the conditions of a receiver records its channels.
 */

import type { ConditionMonitor } from '../conditions/conditions.ts'
import { type ChannelState, isSameState, toChannelState } from '../domain/history/channel-state.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Cast } from '../lists/cast.ts'
import type { EffectiveSettings } from '../lists/effective-settings.ts'
import { now } from '../platform/clock.ts'
import type { Log } from '../platform/log.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import { listLastChannelStates, type StoredChannelState, saveChannelStates } from '../storage/channel-states.ts'
import type { Database } from '../storage/database.ts'

interface Subsystems {
  readonly db: Database
  readonly receiverStore: ReceiverStore
  readonly conditions: ConditionMonitor
  readonly cast: Cast
  readonly settings: EffectiveSettings
  readonly log: Log
}

const saveEveryMs = 1000
/** How many states wait at most while they cannot be stored. Older ones are dropped. */
const maxUnsaved = 100_000

export class ChannelStates {
  readonly #subsystems: Subsystems
  readonly #now: () => number
  /** The last state of every channel that this process records, by receiver and channel. */
  readonly #known = new Map<number, Map<number, ChannelState | null>>()
  /** The receivers that may have changed, and when they last did (epoch ms). */
  #changed = new Map<number, number>()
  #unsaved: StoredChannelState[] = []
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<void> = Promise.resolve()
  #isClosed = false
  #hasFailed = false

  constructor(subsystems: Subsystems, wallClock = now) {
    this.#subsystems = subsystems
    this.#now = wallClock
    const changed = ({ receiverId }: { readonly receiverId: number }) => this.#markChanged(receiverId)
    subsystems.receiverStore.levels.listenToRecords({ loaded: changed, factsChanged: changed, removed: changed })
  }

  start(): void {
    this.#schedule()
  }

  /** `receiverIds`: the receivers whose units have other assignments. */
  assignmentsChanged(receiverIds: Iterable<number> = this.#known.keys()): void {
    for (const id of receiverIds) if (this.#known.has(id)) this.#markChanged(id)
  }

  /** Compares the receivers that may have changed with their last states, and stores the differences. Never throws. */
  async flush(): Promise<void> {
    const { db, settings, log } = this.#subsystems
    if (!settings.get(null).HISTORY) {
      // When recording starts again, all states are stored with the new time.
      this.#known.clear()
      this.#changed.clear()
      return
    }
    try {
      await this.#follow()
      await this.#collect()
      const states = this.#unsaved
      if (states.length === 0) return
      await db.transaction((tx) => saveChannelStates(tx, states))
      this.#unsaved = this.#unsaved.slice(states.length)
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed) log.warn({ error: String(error) }, 'states of channels could not be stored')
      this.#hasFailed = true
      this.#unsaved = this.#unsaved.slice(-maxUnsaved)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#saving
    await this.flush()
  }

  #markChanged(receiverId: number): void {
    if (this.#known.has(receiverId)) this.#changed.set(receiverId, this.#now())
  }

  #schedule(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#saving = this.flush().finally(() => this.#schedule())
    }, saveEveryMs)
  }

  /** Records the receivers that this process evaluates now, and no others. */
  async #follow(): Promise<void> {
    const { db, conditions, receiverStore } = this.#subsystems
    for (const id of this.#known.keys()) {
      // A removed receiver gets its last states first.
      if (!conditions.isOwn(id) && !this.#changed.has(id)) this.#known.delete(id)
    }
    const unknown = [...conditions.ownReceivers()].filter((id) => !this.#known.has(id))
    const added = unknown.flatMap((id) => receiverStore.get(id) ?? [])
    if (added.length === 0) return
    const channelIds = added.flatMap(({ channels }) => channels.map(({ id }) => id))
    const states = await listLastChannelStates(db.read, channelIds)
    for (const { id, channels } of added) {
      const known = channels.flatMap((channel): [number, ChannelState | null][] => {
        const state = states.get(channel.id)
        return state === undefined ? [] : [[channel.id, state]]
      })
      this.#known.set(id, new Map(known))
      this.#changed.set(id, this.#now())
    }
  }

  async #collect(): Promise<void> {
    const { receiverStore, conditions, cast } = this.#subsystems
    const changed = this.#changed
    if (changed.size === 0) return
    this.#changed = new Map()
    const assigned = new Map(cast.assignments().map(({ channel_id, ...assignment }) => [channel_id, assignment]))
    for (const [id, time] of changed) {
      const known = this.#known.get(id)
      const current = receiverStore.get(id)
      if (known === undefined || (current !== undefined && !conditions.isOwn(id))) continue
      const channels = current?.channels ?? []
      for (const channel of channels)
        this.#set(known, channel.id, toChannelState(channel, assigned.get(channel.id) ?? null), time)
      for (const channelId of known.keys()) {
        if (!channels.some((channel) => channel.id === channelId)) this.#set(known, channelId, null, time)
      }
      if (current === undefined) this.#known.delete(id)
      if (isTimeSliceUsed()) await yieldToEventLoop()
    }
  }

  #set(known: Map<number, ChannelState | null>, channelId: number, state: ChannelState | null, time: number): void {
    const before = known.get(channelId)
    if (before !== undefined && isSameState(before, state)) return
    known.set(channelId, state)
    this.#unsaved.push({ channel_id: channelId, time, state })
  }
}
