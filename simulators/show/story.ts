/**
 * Scripted events of a show, chosen by seed. One device changes its address, one appears with an address already in
 * use, and one goes offline and returns. One transmitter is switched off and on, and one battery drains early.
 */

import { createDeviceSetup, type DeviceSetup, type ShowDevice, type SimulatedManufacturer } from './cast.ts'
import { chance } from './levels.ts'

/** A change to a device at a fixed time in the show. */
export type StoryEvent =
  | { readonly atMs: number; readonly type: 'moved'; readonly id: string; readonly ip: string }
  | { readonly atMs: number; readonly type: 'appeared'; readonly id: string }
  | { readonly atMs: number; readonly type: 'offline' | 'online'; readonly id: string }
  | {
      readonly atMs: number
      readonly type: 'transmitter_off' | 'transmitter_on'
      readonly id: string
      readonly channel: number
    }

/**
 * Creates the events. Replaces one entry of `setups` with a copy whose battery drains early, and adds the device that
 * appears during the show to `late`.
 */
export function writeStory(seed: number, setups: DeviceSetup[], late: Map<string, DeviceSetup>): StoryEvent[] {
  const [draining, moving, conflicted, leaving, switching] = shuffled(seed, setups)
  const story: StoryEvent[] = []
  if (draining !== undefined) setups[setups.indexOf(draining)] = withDrainingBattery(draining)
  if (moving !== undefined) {
    story.push({
      atMs: 45_000,
      type: 'moved',
      id: moving.device.id,
      ip: String(moving.device.ip).replace(/^10\.20\./, '10.30.'),
    })
  }
  if (leaving !== undefined) {
    story.push({ atMs: 60_000, type: 'offline', id: leaving.device.id })
    story.push({ atMs: 180_000, type: 'online', id: leaving.device.id })
  }
  if (conflicted !== undefined) {
    const conflicting = createConflictingDevice(seed, conflicted.device, setups)
    late.set(conflicting.device.id, conflicting)
    story.push({ atMs: 75_000, type: 'appeared', id: conflicting.device.id })
  }
  const channel = switching?.channels.find(({ pack }) => pack !== null)?.channel
  if (switching !== undefined && channel !== undefined) {
    story.push({ atMs: 90_000, type: 'transmitter_off', id: switching.device.id, channel })
    story.push({ atMs: 150_000, type: 'transmitter_on', id: switching.device.id, channel })
  }
  return story.sort((a, b) => a.atMs - b.atMs)
}

/** Returns a copy with one battery that is low after two minutes, critical after eight and replaced after eleven. */
function withDrainingBattery(setup: DeviceSetup): DeviceSetup {
  const first = setup.channels.findIndex((channel) => channel.pack !== null)
  return {
    ...setup,
    channels: setup.channels.map((channel, index) =>
      index === first && channel.pack !== null
        ? { ...channel, pack: { ...channel.pack, type: 'lithium', charge: 23, firstPerHour: 108 } }
        : channel,
    ),
  }
}

/** Creates a visiting band's receiver, which has the same IP address as an existing device. */
function createConflictingDevice(seed: number, existing: ShowDevice, setups: readonly DeviceSetup[]): DeviceSetup {
  const code = existing.manufacturer as SimulatedManufacturer
  const { device, channels } = createDeviceSetup(seed, code, 9000 + setups.length, {
    firstPerformer: setups.length * 4 + 500,
  })
  return {
    device: { ...device, name: 'Visiting Band Rack', ip: existing.ip },
    channels: channels.map((channel) => ({ ...channel, name: `Visitor ${channel.channel}` })),
  }
}

/** A device after the events so far. */
export interface DeviceAfterEvents extends DeviceSetup {
  readonly online: boolean
  /** Channels whose transmitter was switched off. */
  readonly mutedChannels: ReadonlySet<number>
}

export function applyEvents(setup: DeviceSetup, events: readonly StoryEvent[]): DeviceAfterEvents {
  let { device } = setup
  let online = true
  const mutedChannels = new Set<number>()
  for (const event of events) {
    switch (event.type) {
      case 'moved':
        device = { ...device, ip: event.ip }
        break
      case 'offline':
      case 'online':
        online = event.type === 'online'
        break
      case 'transmitter_off':
        mutedChannels.add(event.channel)
        break
      case 'transmitter_on':
        mutedChannels.delete(event.channel)
        break
      case 'appeared':
        break
      default:
        event satisfies never
    }
  }
  return { device, channels: setup.channels, online, mutedChannels }
}

function shuffled<T>(seed: number, items: readonly T[]): T[] {
  const order = items.map((item, index) => ({ item, key: chance(seed + 700, index) }))
  return order.sort((a, b) => a.key - b.key).map(({ item }) => item)
}
