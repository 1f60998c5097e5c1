/** Sound that is kept as evidence. */

import type { ClipBody } from '../../contract/clips.ts'
import type { EventRecord } from '../events/event.ts'
import { toTimestamp } from '../timestamp.ts'
import type { AudioFault } from './faults/finding.ts'

const clipBeforeMs = 15_000
const clipAfterMs = 10_000
const maxClipMs = 60_000
/** At most one clip of a channel begins in this time. */
export const clipIntervalMs = 60_000

/** Times are epoch ms. */
export interface Clip {
  readonly id: number
  readonly channel_id: number
  /** In the order of their times; at least one. */
  readonly event_ids: readonly number[]
  readonly from: number
  readonly to: number
  /** Of the file, in bytes. */
  readonly size: number
  readonly faults: readonly AudioFault[]
  readonly lost_packets: number
  /** The name of the file in the folder of clips. */
  readonly file: string
}

const dayMs = 86_400_000

export function expiryOf({ to }: Pick<Clip, 'to'>, days: number): number {
  return to + days * dayMs
}

export function toClipBody(clip: Clip, days: number): ClipBody {
  const { id, channel_id, event_ids, from, to, size, faults, lost_packets } = clip
  return {
    id,
    channel_id,
    event_id: event_ids[0] as number,
    event_ids: [...event_ids],
    from: toTimestamp(from),
    to: toTimestamp(to),
    size,
    faults: [...faults],
    lost_packets,
    expires_at: toTimestamp(expiryOf(clip, days)),
  }
}

/** The time that a clip covers, with all events so far. */
export class ClipSpan {
  readonly from: number
  #to: number

  constructor(event: EventRecord) {
    this.from = event.time - clipBeforeMs
    this.#to = endOf(event)
  }

  /** Not after the longest length of a clip. */
  get to(): number {
    return Math.min(this.#to, this.from + maxClipMs)
  }

  contains({ time }: Pick<EventRecord, 'time'>): boolean {
    return time >= this.from && time <= this.to
  }

  /** `events` are all events of the clip, as they are now. */
  update(events: Iterable<EventRecord>): void {
    this.#to = Math.max(...[...events].map(endOf))
  }
}

function endOf({ time, until, is_open }: EventRecord): number {
  return is_open ? Number.POSITIVE_INFINITY : (until ?? time) + clipAfterMs
}
