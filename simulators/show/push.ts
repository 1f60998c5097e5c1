/** Pushes the changes of a simulated system: compares device states periodically and publishes the differences. */

import { toChannels, toDetail, toListed, toTransmitters } from './device-api.ts'
import type { DeviceState, Show, ShowChannel } from './show.ts'

/** Changed fields of one device, named as in the REST responses. */
export interface DeviceChanges {
  readonly id: string
  readonly fields: Readonly<Record<string, unknown>>
  readonly status?: 'online' | 'offline' | 'removed'
}

export interface PushControls {
  /** Number of open connections. */
  readonly connections: number
  /** Frames or events sent so far over all connections. */
  readonly sent: number
  /** Publishes pending changes immediately. */
  flush(): void
  /** Stops publishing until `resume`, which publishes the changes in between. */
  pause(): void
  resume(): void
  /** Sends this text unchanged to every connection, as one frame or as the data of one event. */
  send(text: string): void
}

export interface PushTimer {
  /** Called when a client connects, to start publishing changes. */
  start(): void
  flush(): void
  pause(): void
  resume(): void
  stop(): void
}

/** Calls `publish` with the changes at a fixed interval while there are subscribers. */
export function startPushTimer(options: {
  readonly show: Show
  readonly manufacturer: string
  readonly elapsed: () => number
  readonly perSecond: number
  readonly hasSubscribers: () => boolean
  readonly publish: (changes: readonly DeviceChanges[]) => void
}): PushTimer {
  const { show, manufacturer, elapsed, perSecond, hasSubscribers, publish } = options
  const readDevices = () => new Map(show.devicesAt(elapsed(), manufacturer).map((state) => [state.device.id, state]))
  let known: ReadonlyMap<string, DeviceState> | undefined
  let isPaused = false

  const flush = () => {
    const previous = known
    if (!hasSubscribers()) {
      known = undefined
      return
    }
    known = readDevices()
    const changes = previous === undefined ? [] : compare(previous, known)
    if (changes.length > 0) publish(changes)
  }
  const timer = perSecond > 0 ? setInterval(() => isPaused || flush(), 1000 / perSecond) : undefined
  return {
    start: () => {
      known ??= readDevices()
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
  previous: ReadonlyMap<string, DeviceState>,
  after: ReadonlyMap<string, DeviceState>,
): readonly DeviceChanges[] {
  const changes: DeviceChanges[] = []
  for (const [id, state] of after) {
    const difference = compareDevice(id, previous.get(id), state)
    if (difference !== null) changes.push(difference)
  }
  for (const id of previous.keys()) if (!after.has(id)) changes.push({ id, fields: {}, status: 'removed' })
  return changes
}

/** The fields of a new device are all published. */
export function allFields(state: DeviceState): DeviceChanges['fields'] {
  const { device_id, ...fields } = toDetail(state)
  return { ...fields, channels: toChannels(state), transmitters: toTransmitters(state) }
}

function compareDevice(id: string, previous: DeviceState | undefined, after: DeviceState): DeviceChanges | null {
  if (previous === undefined) return { id, fields: allFields(after), status: after.online ? 'online' : 'offline' }
  const fields: Record<string, unknown> = {}
  if (previous.device !== after.device) Object.assign(fields, changedFields(identity(previous), identity(after)))
  const channels: object[] = []
  const transmitters: object[] = []
  for (const [index, channel] of after.channels.entries()) {
    compareChannel(previous.channels[index], channel, channels, transmitters)
  }
  if (channels.length > 0) fields.channels = channels
  if (transmitters.length > 0) fields.transmitters = transmitters
  if (previous.online !== after.online) return { id, fields, status: after.online ? 'online' : 'offline' }
  return channels.length + transmitters.length > 0 || previous.device !== after.device ? { id, fields } : null
}

function compareChannel(
  previous: ShowChannel | undefined,
  after: ShowChannel,
  channels: object[],
  transmitters: object[],
): void {
  const { channel } = after
  const fields = changedFields(previous, after)
  delete fields.transmitter
  // If the transmitter has disappeared, its channel reports null. Changes to a transmitter are in `transmitters`.
  if (previous?.transmitter && after.transmitter === null) fields.transmitter = null
  if (!isEmpty(fields)) channels.push({ channel, ...fields })
  if (after.transmitter === null) return
  const difference = changedFields(previous?.transmitter, toListed(after.transmitter))
  if (!isEmpty(difference)) transmitters.push({ channel, ...difference })
}

function identity(state: DeviceState): object {
  const { device_id, status, battery_percentage, rf_level, ...fields } = toDetail(state)
  return fields
}

function changedFields(previous: object | null | undefined, after: object): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  const known = previous as Record<string, unknown> | null | undefined
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
