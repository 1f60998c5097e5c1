/**
 * Records the state of each channel, except its levels, whenever it changes, so that a past moment can be shown. Only
 * the process that evaluates the conditions of a receiver records its channels.
 */

import type { Receiver } from '../domain/equipment/receiver.ts'
import { type ChannelState, isSameState, toChannelState } from '../domain/history/channel-state.ts'
import type { LevelStore } from '../ingest/level-store.ts'
import type { Log } from '../platform/log.ts'
import { isTimeSliceUsed, yieldToEventLoop } from '../platform/time-slice.ts'
import type { StoredChannelState } from '../storage/channel-states.ts'

export interface ChannelStatesDeps {
  readonly levels: Pick<LevelStore, 'listenToRecords'>
  /** Lists the receivers whose conditions this process evaluates. */
  ownReceivers(): Iterable<number>
  isOwn(receiverId: number): boolean
  isOn(): boolean
  receiver(id: number): Receiver | undefined
  /** Returns the assignment of every channel that has one. */
  assignments(): ReadonlyMap<number | null, NonNullable<ChannelState['assignment']>>
  /** Returns the last stored state of each of these channels. */
  load(channelIds: readonly number[]): Promise<ReadonlyMap<number, ChannelState | null>>
  save(states: readonly StoredChannelState[]): Promise<void>
  readonly log: Log
  /** The wall-clock time in epoch ms. */
  now(): number
}

const saveEveryMs = 1000
/** How many states wait at most while they cannot be stored. Older ones are dropped. */
const maxUnsaved = 100_000

export class ChannelStates {
  readonly #deps: ChannelStatesDeps
  /** The last state of every channel that this process records, by receiver and channel. */
  readonly #known = new Map<number, Map<number, ChannelState | null>>()
  /** The receivers that may have changed, and when they last did (epoch ms). */
  #changed = new Map<number, number>()
  #unsaved: StoredChannelState[] = []
  #timer: NodeJS.Timeout | undefined
  #saving: Promise<void> = Promise.resolve()
  #isClosed = false
  #hasFailed = false

  constructor(deps: ChannelStatesDeps) {
    this.#deps = deps
    const changed = ({ receiverId }: { readonly receiverId: number }) => this.#markChanged(receiverId)
    deps.levels.listenToRecords({ loaded: changed, factsChanged: changed, removed: changed })
  }

  start(): void {
    this.#schedule()
  }

  /** Assignments have changed. */
  assignmentsChanged(): void {
    for (const id of this.#known.keys()) this.#markChanged(id)
  }

  /** Stores what is not stored yet. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#saving
    await this.#record()
  }

  #markChanged(receiverId: number): void {
    if (this.#known.has(receiverId)) this.#changed.set(receiverId, this.#deps.now())
  }

  #schedule(): void {
    if (this.#isClosed) return
    this.#timer = setTimeout(() => {
      this.#saving = this.#record().finally(() => this.#schedule())
    }, saveEveryMs)
  }

  /** Compares the receivers that may have changed with their last states, and stores what differs. Never throws. */
  async #record(): Promise<void> {
    const { isOn, save, log } = this.#deps
    if (!isOn()) {
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
      await save(states)
      this.#unsaved = this.#unsaved.slice(states.length)
      this.#hasFailed = false
    } catch (error) {
      if (!this.#hasFailed) log.warn({ error: String(error) }, 'states of channels could not be stored')
      this.#hasFailed = true
      this.#unsaved = this.#unsaved.slice(-maxUnsaved)
    }
  }

  /** Records the receivers that this process evaluates now, and no others. */
  async #follow(): Promise<void> {
    const { isOwn, ownReceivers, receiver, load, now } = this.#deps
    for (const id of this.#known.keys()) {
      // A removed receiver gets its last states first.
      if (!isOwn(id) && !this.#changed.has(id)) this.#known.delete(id)
    }
    const added = [...ownReceivers()].flatMap((id) => (this.#known.has(id) ? [] : (receiver(id) ?? [])))
    if (added.length === 0) return
    const states = await load(added.flatMap(({ channels }) => channels.map(({ id }) => id)))
    for (const { id, channels } of added) {
      const known = channels.flatMap((channel): [number, ChannelState | null][] => {
        const state = states.get(channel.id)
        return state === undefined ? [] : [[channel.id, state]]
      })
      this.#known.set(id, new Map(known))
      this.#changed.set(id, now())
    }
  }

  async #collect(): Promise<void> {
    const { receiver, isOwn, assignments } = this.#deps
    const changed = this.#changed
    if (changed.size === 0) return
    this.#changed = new Map()
    const assigned = assignments()
    for (const [id, time] of changed) {
      const known = this.#known.get(id)
      const current = receiver(id)
      if (known === undefined || (current !== undefined && !isOwn(id))) continue
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
