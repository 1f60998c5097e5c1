/** What changed since it was last told: the beat at which a system pushes, and the differences it pushes. */

import { toChannels, toDetail, toTransmitters } from './device-api.ts'
import type { DeviceState, Show, ShowChannel } from './show.ts'

/** What a system tells of one device: only fields that changed, under the names of the REST answers. */
export interface DeviceNews {
  readonly id: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly status?: 'online' | 'offline' | 'removed'
}

export interface PushControls {
  /** Connections open at the moment. */
  readonly links: number
  /** Frames or events sent so far, over all connections. */
  readonly sent: number
  /** Tells what changed now, without waiting for the beat. */
  flush(): void
  /** No pushing until `resume`; what changes meanwhile is told then. */
  pause(): void
  resume(): void
  /** Sends this text as it is to every connection: one frame, or one event's data. */
  send(text: string): void
}

export interface Beat {
  /** Somebody has begun to listen: what changes from now on is news. */
  listen(): void
  flush(): void
  pause(): void
  resume(): void
  stop(): void
}

/** Calls `tell` with the news at every beat, for as long as somebody listens. */
export function startBeat(about: {
  readonly show: Show
  readonly manufacturer: string
  readonly elapsed: () => number
  readonly perSecond: number
  readonly isHeard: () => boolean
  readonly tell: (news: readonly DeviceNews[]) => void
}): Beat {
  const { show, manufacturer, elapsed, perSecond, isHeard, tell } = about
  const look = () => new Map(show.devicesAt(elapsed(), manufacturer).map((state) => [state.device.id, state]))
  let known: ReadonlyMap<string, DeviceState> | undefined
  let isPaused = false

  const flush = () => {
    const before = known
    if (!isHeard()) {
      known = undefined
      return
    }
    known = look()
    const news = before === undefined ? [] : compare(before, known)
    if (news.length > 0) tell(news)
  }
  const timer = perSecond > 0 ? setInterval(() => isPaused || flush(), 1000 / perSecond) : undefined
  return {
    listen: () => {
      known ??= look()
    },
    flush,
    pause: () => {
      isPaused = true
    },
    resume: () => {
      isPaused = false
    },
    stop: () => clearInterval(timer),
  }
}

function compare(
  before: ReadonlyMap<string, DeviceState>,
  after: ReadonlyMap<string, DeviceState>,
): readonly DeviceNews[] {
  const news: DeviceNews[] = []
  for (const [id, state] of after) {
    const told = compareDevice(id, before.get(id), state)
    if (told !== null) news.push(told)
  }
  for (const id of before.keys()) if (!after.has(id)) news.push({ id, fields: {}, status: 'removed' })
  return news
}

/** Everything there is to tell of a device, as for one that was not known before. */
export function wholeDevice(state: DeviceState): DeviceNews['fields'] {
  const { device_id, ...fields } = toDetail(state)
  return { ...fields, channels: toChannels(state), transmitters: toTransmitters(state) }
}

function compareDevice(id: string, before: DeviceState | undefined, after: DeviceState): DeviceNews | null {
  if (before === undefined) return { id, fields: wholeDevice(after), status: after.online ? 'online' : 'offline' }
  const fields: Record<string, unknown> = {}
  if (before.device !== after.device) Object.assign(fields, changed(identity(before), identity(after)))
  const channels: object[] = []
  const transmitters: object[] = []
  for (const [at, channel] of after.channels.entries()) {
    compareChannel(before.channels[at], channel, channels, transmitters)
  }
  if (channels.length > 0) fields.channels = channels
  if (transmitters.length > 0) fields.transmitters = transmitters
  if (before.online !== after.online) return { id, fields, status: after.online ? 'online' : 'offline' }
  return channels.length + transmitters.length > 0 || before.device !== after.device ? { id, fields } : null
}

function compareChannel(
  before: ShowChannel | undefined,
  after: ShowChannel,
  channels: object[],
  transmitters: object[],
): void {
  const { channel } = after
  const fields = changed(before, after)
  delete fields.transmitter
  // A transmitter that went is named in its channel; one that is there is told of under `transmitters`.
  if (before?.transmitter && after.transmitter === null) fields.transmitter = null
  if (!isEmpty(fields)) channels.push({ channel, ...fields })
  if (after.transmitter === null) return
  const told = changed(before?.transmitter, after.transmitter)
  if (!isEmpty(told)) transmitters.push({ channel, ...told })
}

function identity(state: DeviceState): object {
  const { device_id, status, battery_percentage, rf_level, ...fields } = toDetail(state)
  return fields
}

function changed(before: object | null | undefined, after: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const known = before as Record<string, unknown> | null | undefined
  for (const field in after) {
    const value = (after as Record<string, unknown>)[field]
    if (known?.[field] !== value) fields[field] = value
  }
  return fields
}

function isEmpty(fields: object): boolean {
  for (const _ in fields) return false
  return true
}
