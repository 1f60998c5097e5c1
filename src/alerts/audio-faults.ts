/** The faults in the sound of channels, as the events of all processes report them. They cause alerts until 10 s after their end. */

import type { AlertData } from '../domain/alerts/alert.ts'
import { type AudioRangeKind, audioRangeKinds } from '../domain/events/channel-events.ts'
import type { EventChange } from '../domain/events/event.ts'
import { now } from '../platform/clock.ts'
import { Topic } from '../platform/topic.ts'

const clearAfterMs = 10_000

interface Fault {
  readonly eventId: number
  readonly receiverId: number
  /** Epoch ms; Infinity while it lasts. */
  readonly until: number
  readonly confirmed_by?: AlertData['confirmed_by']
}

export class AudioFaults {
  /** Contains the ids of the receivers with other faults. */
  readonly changed = new Topic<Iterable<number>>()
  /** By kind and channel. */
  readonly #faults = new Map<string, Fault>()
  #timer: NodeJS.Timeout | undefined

  faultOf(channelId: number, kind: AudioRangeKind): Pick<AlertData, 'confirmed_by'> | null {
    const fault = this.#faults.get(`${kind}:${channelId}`)
    return fault === undefined ? null : { confirmed_by: fault.confirmed_by }
  }

  eventChanged(change: EventChange): void {
    if (change.type === 'event_deleted') return
    const { id, kind, channel_id, receiver_id, is_open, until, data, site } = change.event
    const known = audioRangeKinds.find((each) => each === kind)
    if (known === undefined || channel_id === null || receiver_id === null || site !== null) return
    const key = `${known}:${channel_id}`
    const clearedAt = is_open ? Number.POSITIVE_INFINITY : (until ?? 0) + clearAfterMs
    const isOlder = (this.#faults.get(key)?.eventId ?? 0) > id
    if (isOlder || clearedAt <= now()) return
    const { confirmed_by } = data
    this.#faults.set(key, {
      eventId: id,
      receiverId: receiver_id,
      until: clearedAt,
      ...(confirmed_by && { confirmed_by }),
    })
    this.#setTimer()
    this.changed.publish([receiver_id])
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #setTimer(): void {
    clearTimeout(this.#timer)
    const first = Math.min(...[...this.#faults.values()].map(({ until }) => until))
    if (!Number.isFinite(first)) return
    this.#timer = setTimeout(() => this.#forgetEnded(), Math.max(1, first - now()))
    this.#timer.unref()
  }

  #forgetEnded(): void {
    const changed = new Set<number>()
    for (const [key, { until, receiverId }] of this.#faults) {
      if (until > now()) continue
      this.#faults.delete(key)
      changed.add(receiverId)
    }
    this.#setTimer()
    this.changed.publish(changed)
  }
}
