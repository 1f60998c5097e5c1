/**
 * A believable show: the cast, what the story makes of it, and what is changed by hand on top of both. Seeded and without
 * a clock of its own: whoever asks says how much time has passed.
 */

import {
  type Cast,
  type CastOptions,
  type ChannelCast,
  castDevice,
  castShow,
  firstIndex,
  type MakerCode,
  type ShowDevice,
} from './cast.ts'
import { levelsAt, noiseAt, type Pack } from './levels.ts'
import { type StoryEvent, type Told, tell, writeStory } from './story.ts'

export interface ShowTransmitter {
  readonly slot: number
  readonly name: string
  readonly battery: number
  readonly audio_level: number
  readonly rf_level: number
  readonly frequency: string
}

export interface ShowChannel {
  readonly channel: number
  readonly name: string
  readonly frequency: string
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly transmitter: ShowTransmitter | null
}

/** A device as it stands at one moment. `device` stays the same object for as long as nothing of it changes. */
export interface DeviceState {
  readonly device: ShowDevice
  readonly online: boolean
  readonly channels: readonly ShowChannel[]
}

export type DeviceChange = Partial<Omit<ShowDevice, 'id' | 'manufacturer'>> & { readonly online?: boolean }

export interface ChannelChange extends Partial<Pick<ShowChannel, 'name' | 'frequency'>> {
  readonly audio_level?: number
  readonly rf_level?: number
  readonly battery?: number
  /** Switched on or off. */
  readonly transmitter?: boolean
}

export interface ShowOptions extends CastOptions {
  readonly seed?: number
  /** Whether devices move, conflict, go and come (default), or all stays as it was at the start. */
  readonly story?: boolean
}

export interface Show {
  readonly story: readonly StoryEvent[]
  /** Every device that is there at that time, in a steady order. */
  devicesAt(elapsedMs: number, manufacturer?: string): readonly DeviceState[]
  deviceAt(elapsedMs: number, id: string): DeviceState | undefined
  countAt(elapsedMs: number, manufacturer?: string): number
  /** By hand, and it sticks: whatever the story says. */
  set(id: string, change: DeviceChange): void
  set(id: string, change: ChannelChange, channel: number): void
  /** Back to the story. */
  unset(id: string): void
  /** One more device, at once; what is not given is made up. Returns its id. */
  add(
    manufacturer: MakerCode,
    device?: Partial<ShowDevice> & {
      readonly channels?: number
      /** Which of the company stand on its channels. */
      readonly firstPlace?: number
    },
  ): string
  remove(id: string): void
}

/** A device with what the story and the hand made of it; good until the next event or change. */
interface Standing extends Told {
  readonly changes: ReadonlyMap<number, ChannelChange>
}

export function createShow(options: ShowOptions = {}): Show {
  const seed = options.seed ?? 1
  const first = firstIndex(options)
  const roster = castShow(seed, options)
  const late = new Map<string, Cast>()
  const story = options.story === false ? [] : writeStory(seed, roster, late)
  const everybody = new Map([...roster.map((cast): [string, Cast] => [cast.device.id, cast]), ...late])
  const present = new Set(roster.map((cast) => cast.device.id))
  const removed = new Set<string>()
  const deviceChanges = new Map<string, DeviceChange>()
  const channelChanges = new Map<string, Map<number, ChannelChange>>()
  let version = 0
  let scene: { version: number; told: number; standing: Map<string, Standing> } | undefined

  const sceneAt = (elapsedMs: number): Map<string, Standing> => {
    const told = story.filter((event) => event.atMs <= elapsedMs)
    if (scene?.version === version && scene.told === told.length) return scene.standing
    const standing = new Map<string, Standing>()
    for (const [id, cast] of everybody) {
      const events = told.filter((event) => event.id === id)
      const isThere = present.has(id) || events.some((event) => event.type === 'appeared')
      if (!isThere || removed.has(id)) continue
      standing.set(id, applyChanges(tell(cast, events), deviceChanges.get(id), channelChanges.get(id)))
    }
    scene = { version, told: told.length, standing }
    return standing
  }

  const requireDevice = (id: string) => {
    if (!everybody.has(id)) throw new RangeError(`The show has no device ${id}.`)
    version++
  }

  return {
    story,
    devicesAt(elapsedMs, manufacturer) {
      const states: DeviceState[] = []
      for (const one of sceneAt(elapsedMs).values()) {
        if (manufacturer === undefined || one.device.manufacturer === manufacturer) states.push(stateAt(one, elapsedMs))
      }
      return states
    },
    deviceAt(elapsedMs, id) {
      const one = sceneAt(elapsedMs).get(id)
      return one && stateAt(one, elapsedMs)
    },
    countAt(elapsedMs, manufacturer) {
      let count = 0
      for (const { device } of sceneAt(elapsedMs).values()) {
        if (manufacturer === undefined || device.manufacturer === manufacturer) count++
      }
      return count
    },
    set(id: string, change: DeviceChange | ChannelChange, channel?: number) {
      requireDevice(id)
      if (channel === undefined) {
        deviceChanges.set(id, { ...deviceChanges.get(id), ...(change as DeviceChange) })
        return
      }
      const ofDevice = channelChanges.get(id) ?? new Map<number, ChannelChange>()
      ofDevice.set(channel, { ...ofDevice.get(channel), ...(change as ChannelChange) })
      channelChanges.set(id, ofDevice)
    },
    unset(id) {
      requireDevice(id)
      deviceChanges.delete(id)
      channelChanges.delete(id)
    },
    add(manufacturer, given = {}) {
      const { channels, firstPlace = 1000 + 8 * everybody.size, ...device } = given
      const made = castDevice(seed, manufacturer, first + everybody.size, { channels, firstPlace })
      const cast = { ...made, device: { ...made.device, ...device, manufacturer } }
      const { id } = cast.device
      everybody.set(id, cast)
      present.add(id)
      removed.delete(id)
      version++
      return id
    },
    remove(id) {
      requireDevice(id)
      removed.add(id)
    },
  }
}

// --- What was changed by hand ------------------------------------------------------------------------------------------

const noChanges: ReadonlyMap<number, ChannelChange> = new Map()

function applyChanges(
  standing: Told,
  change: DeviceChange | undefined,
  changes: ReadonlyMap<number, ChannelChange> = noChanges,
): Standing {
  if (change === undefined) return { ...standing, changes }
  const { online = standing.online, ...fields } = change
  return { ...standing, device: { ...standing.device, ...fields }, online, changes }
}

// --- What can be seen of them -----------------------------------------------------------------------------------------

function stateAt(standing: Standing, elapsedMs: number): DeviceState {
  const { device, online } = standing
  return { device, online, channels: standing.channels.map((channel) => channelAt(standing, channel, elapsedMs)) }
}

function channelAt(standing: Standing, cast: ChannelCast, elapsedMs: number): ShowChannel {
  const { channel } = cast
  const change = standing.changes.get(channel)
  const name = change?.name ?? cast.name
  const frequency = change?.frequency ?? cast.frequency
  if (!standing.online) return { channel, name, frequency, audio_level: null, rf_level: null, transmitter: null }

  const isOn = change?.transmitter ?? !standing.silenced.has(channel)
  const pack = cast.pack ?? (change?.transmitter === true ? freshPack : null)
  const levels = isOn && pack !== null ? levelsAt(cast.seed, cast.part, pack, elapsedMs) : null
  const { audio_level, rf_level } = levels ?? noiseAt(cast.seed, elapsedMs)
  const audio = change?.audio_level ?? audio_level
  const rf = change?.rf_level ?? rf_level
  const transmitter = levels && {
    slot: cast.slot,
    name,
    battery: change?.battery ?? levels.battery,
    audio_level: audio,
    rf_level: rf,
    frequency,
  }
  return { channel, name, frequency, audio_level: audio, rf_level: rf, transmitter }
}

const freshPack: Pack = { charge: 100, firstPerHour: 10, perHour: 10 }
