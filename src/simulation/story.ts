/**
 * What happens to the devices in the course of the evening: one moves, one comes with an address that is taken, one goes
 * and comes back, a battery fails. Seeded.
 */

import { type Cast, castDevice, type MakerCode, type ShowDevice } from './cast.ts'
import { chance } from './levels.ts'

/** Something that happens to the devices, at a fixed time of the show. */
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

/** Gives the roster one failing battery, and says what happens when. Who appears later is put into `late`. */
export function writeStory(seed: number, roster: Cast[], late: Map<string, Cast>): StoryEvent[] {
  const [tired, moving, conflicted, leaving, switching] = shuffled(seed, roster)
  const story: StoryEvent[] = []
  if (tired !== undefined) roster[roster.indexOf(tired)] = withTiredBattery(tired)
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
    const intruder = castIntruder(seed, conflicted.device, roster)
    late.set(intruder.device.id, intruder)
    story.push({ atMs: 75_000, type: 'appeared', id: intruder.device.id })
  }
  const channel = switching?.channels.find((one) => one.pack !== null)?.channel
  if (switching !== undefined && channel !== undefined) {
    story.push({ atMs: 90_000, type: 'transmitter_off', id: switching.device.id, channel })
    story.push({ atMs: 150_000, type: 'transmitter_on', id: switching.device.id, channel })
  }
  return story.sort((a, b) => a.atMs - b.atMs)
}

/** Low after two minutes, critical after eight, swapped after eleven. */
function withTiredBattery(cast: Cast): Cast {
  const at = cast.channels.findIndex((channel) => channel.pack !== null)
  return {
    ...cast,
    channels: cast.channels.map((channel, index) =>
      index === at && channel.pack !== null
        ? { ...channel, pack: { ...channel.pack, charge: 23, firstPerHour: 108 } }
        : channel,
    ),
  }
}

/** Somebody's own receiver, plugged in with an address that is taken. */
function castIntruder(seed: number, holder: ShowDevice, roster: readonly Cast[]): Cast {
  const code = holder.manufacturer as MakerCode
  const { device, channels } = castDevice(seed, code, 9000 + roster.length, { firstPlace: roster.length * 4 + 500 })
  return {
    device: { ...device, name: 'Visiting Band Rack', ip: holder.ip },
    channels: channels.map((channel) => ({ ...channel, name: `Visitor ${channel.channel}` })),
  }
}

/** A device with what the story made of it. */
export interface Told extends Cast {
  readonly online: boolean
  /** Channels whose transmitter was switched off. */
  readonly silenced: ReadonlySet<number>
}

export function tell(cast: Cast, events: readonly StoryEvent[]): Told {
  let { device } = cast
  let online = true
  const silenced = new Set<number>()
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
        silenced.add(event.channel)
        break
      case 'transmitter_on':
        silenced.delete(event.channel)
        break
      case 'appeared':
        break
      default:
        event satisfies never
    }
  }
  return { device, channels: cast.channels, online, silenced }
}

function shuffled<T>(seed: number, items: readonly T[]): T[] {
  const order = items.map((item, at) => ({ item, key: chance(seed + 700, at) }))
  return order.sort((a, b) => a.key - b.key).map(({ item }) => item)
}
