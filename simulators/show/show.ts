/**
 * Simulates a show: receivers with performers, scripted events, and manual changes that override the events. The seed
 * determines the show. The show has no clock, so callers pass the elapsed time.
 */

import { type BatteryState, type BatteryType, batteryAt, type Pack, reportedMinutes } from './battery.ts'
import {
  type CastOptions,
  type ChannelSetup,
  createDeviceSetup,
  createDeviceSetups,
  type DeviceSetup,
  firstIndex,
  type ShowDevice,
  type SimulatedManufacturer,
} from './cast.ts'
import { noiseAt, signalAt } from './levels.ts'
import { applyEvents, type DeviceAfterEvents, type StoryEvent, writeStory } from './story.ts'

export interface ShowTransmitter {
  readonly slot: number
  readonly name: string
  readonly battery: number
  readonly audio_level: number
  readonly rf_level: number
  readonly frequency: string
  readonly battery_type: BatteryType
  /** For devices that report the remaining minutes. */
  readonly minutes_left: number
}

export interface ShowChannel {
  readonly channel: number
  readonly name: string
  readonly frequency: string
  readonly audio_level: number | null
  readonly rf_level: number | null
  readonly transmitter: ShowTransmitter | null
}

/** `device` is the same object until one of its fields changes. */
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
  /** Replaces the batteries of the cast. */
  readonly pack?: Pack
  /** True if the transmitter is switched on. */
  readonly transmitter?: boolean
}

export interface ShowOptions extends CastOptions {
  readonly seed?: number
  /** Enables scripted events: address changes, conflicts, devices going offline and returning (default true). */
  readonly story?: boolean
}

export interface Show {
  readonly story: readonly StoryEvent[]
  /** Returns the devices present at that time, in a stable order. */
  devicesAt(elapsedMs: number, manufacturer?: string): readonly DeviceState[]
  deviceAt(elapsedMs: number, id: string): DeviceState | undefined
  countAt(elapsedMs: number, manufacturer?: string): number
  /**
   * Returns the remaining battery time of a channel's transmitter in milliseconds. Null without a transmitter, and
   * after a manual change of the battery level.
   */
  remainingMsAt(elapsedMs: number, id: string, channel: number): number | null
  /** Returns the devices that are present from the start, without scripted events and manual changes. */
  setups(): readonly DeviceSetup[]
  /** Manual changes override the scripted events. */
  set(id: string, change: DeviceChange): void
  set(id: string, change: ChannelChange, channel: number): void
  /** Removes the manual changes. */
  unset(id: string): void
  /** Adds a device; missing fields are generated. Returns its id. */
  add(
    manufacturer: SimulatedManufacturer,
    device?: Partial<ShowDevice> & {
      readonly channels?: number
      /** Index of the performer on the device's first channel. */
      readonly firstPerformer?: number
      readonly batteryType?: BatteryType
    },
  ): string
  remove(id: string): void
}

/** A device after all scripted events and manual changes so far; valid until the next event or change. */
interface DeviceSnapshot extends DeviceAfterEvents {
  readonly changes: ReadonlyMap<number, ChannelChange>
}

export function createShow(options: ShowOptions = {}): Show {
  const seed = options.seed ?? 1
  const first = firstIndex(options)
  const setups = createDeviceSetups(seed, options)
  const late = new Map<string, DeviceSetup>()
  const story = options.story === false ? [] : writeStory(seed, setups, late)
  const allDevices = new Map([...setups.map((setup): [string, DeviceSetup] => [setup.device.id, setup]), ...late])
  const present = new Set(setups.map((setup) => setup.device.id))
  const removed = new Set<string>()
  const deviceChanges = new Map<string, DeviceChange>()
  const channelChanges = new Map<string, Map<number, ChannelChange>>()
  let version = 0
  let cached: { version: number; pastEvents: number; snapshots: Map<string, DeviceSnapshot> } | undefined

  const snapshotsAt = (elapsedMs: number): Map<string, DeviceSnapshot> => {
    const pastEvents = story.filter((event) => event.atMs <= elapsedMs)
    if (cached?.version === version && cached.pastEvents === pastEvents.length) return cached.snapshots
    const snapshots = new Map<string, DeviceSnapshot>()
    for (const [id, setup] of allDevices) {
      const events = pastEvents.filter((event) => event.id === id)
      const isPresent = present.has(id) || events.some((event) => event.type === 'appeared')
      if (!isPresent || removed.has(id)) continue
      snapshots.set(id, applyChanges(applyEvents(setup, events), deviceChanges.get(id), channelChanges.get(id)))
    }
    cached = { version, pastEvents: pastEvents.length, snapshots }
    return snapshots
  }

  const requireDevice = (id: string) => {
    if (!allDevices.has(id)) throw new RangeError(`The show has no device ${id}.`)
    version++
  }

  return {
    story,
    devicesAt(elapsedMs, manufacturer) {
      const states: DeviceState[] = []
      for (const snapshot of snapshotsAt(elapsedMs).values()) {
        if (manufacturer === undefined || snapshot.device.manufacturer === manufacturer)
          states.push(stateAt(snapshot, elapsedMs))
      }
      return states
    },
    deviceAt(elapsedMs, id) {
      const snapshot = snapshotsAt(elapsedMs).get(id)
      return snapshot && stateAt(snapshot, elapsedMs)
    },
    countAt(elapsedMs, manufacturer) {
      let count = 0
      for (const { device } of snapshotsAt(elapsedMs).values()) {
        if (manufacturer === undefined || device.manufacturer === manufacturer) count++
      }
      return count
    },
    remainingMsAt(elapsedMs, id, channel) {
      const snapshot = snapshotsAt(elapsedMs).get(id)
      const setup = snapshot?.channels.find((candidate) => candidate.channel === channel)
      if (snapshot === undefined || setup === undefined || !snapshot.online) return null
      if (snapshot.changes.get(channel)?.battery !== undefined) return null
      return transmitterBattery(snapshot, setup, elapsedMs)?.battery.remainingMs ?? null
    },
    setups: () => [...allDevices].flatMap(([id, setup]) => (present.has(id) && !removed.has(id) ? [setup] : [])),
    set(id: string, change: DeviceChange | ChannelChange, channel?: number) {
      requireDevice(id)
      if (channel === undefined) {
        deviceChanges.set(id, { ...deviceChanges.get(id), ...(change as DeviceChange) })
        return
      }
      const changesOfDevice = channelChanges.get(id) ?? new Map<number, ChannelChange>()
      changesOfDevice.set(channel, { ...changesOfDevice.get(channel), ...(change as ChannelChange) })
      channelChanges.set(id, changesOfDevice)
    },
    unset(id) {
      requireDevice(id)
      deviceChanges.delete(id)
      channelChanges.delete(id)
    },
    add(manufacturer, overrides = {}) {
      const { channels, firstPerformer = 1000 + 8 * allDevices.size, batteryType, ...device } = overrides
      const created = createDeviceSetup(seed, manufacturer, first + allDevices.size, {
        ...{ channels, firstPerformer, batteryType },
      })
      const setup = { ...created, device: { ...created.device, ...device, manufacturer } }
      const { id } = setup.device
      allDevices.set(id, setup)
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

// --- Manual changes ---------------------------------------------------------------------------------------------------

const noChanges: ReadonlyMap<number, ChannelChange> = new Map()

function applyChanges(
  snapshot: DeviceAfterEvents,
  change: DeviceChange | undefined,
  changes: ReadonlyMap<number, ChannelChange> = noChanges,
): DeviceSnapshot {
  if (change === undefined) return { ...snapshot, changes }
  const { online = snapshot.online, ...fields } = change
  return { ...snapshot, device: { ...snapshot.device, ...fields }, online, changes }
}

// --- State at a time --------------------------------------------------------------------------------------------------

function stateAt(snapshot: DeviceSnapshot, elapsedMs: number): DeviceState {
  const { device, online } = snapshot
  return { device, online, channels: snapshot.channels.map((channel) => channelAt(snapshot, channel, elapsedMs)) }
}

function channelAt(snapshot: DeviceSnapshot, setup: ChannelSetup, elapsedMs: number): ShowChannel {
  const { channel } = setup
  const change = snapshot.changes.get(channel)
  const name = change?.name ?? setup.name
  const frequency = change?.frequency ?? setup.frequency
  if (!snapshot.online) return { channel, name, frequency, audio_level: null, rf_level: null, transmitter: null }

  const on = transmitterBattery(snapshot, setup, elapsedMs)
  const { audio_level, rf_level } = on ? signalAt(setup.seed, setup.part, elapsedMs) : noiseAt(setup.seed, elapsedMs)
  const audio = change?.audio_level ?? audio_level
  const rf = change?.rf_level ?? rf_level
  const transmitter = on && {
    slot: setup.slot,
    name,
    battery: change?.battery ?? on.battery.percent,
    audio_level: audio,
    rf_level: rf,
    frequency,
    battery_type: on.pack.type,
    minutes_left: change?.battery === undefined ? reportedMinutes(on.pack, on.battery) : 6 * change.battery,
  }
  return { channel, name, frequency, audio_level: audio, rf_level: rf, transmitter }
}

/** Returns the batteries of a channel, and the current one; null if the transmitter is off. */
function transmitterBattery(
  snapshot: DeviceSnapshot,
  setup: ChannelSetup,
  elapsedMs: number,
): { readonly pack: Pack; readonly battery: BatteryState } | null {
  const change = snapshot.changes.get(setup.channel)
  const isOn = change?.transmitter ?? !snapshot.mutedChannels.has(setup.channel)
  const pack = change?.pack ?? setup.pack ?? (change?.transmitter === true ? freshPack : null)
  const battery = isOn && pack !== null ? batteryAt(pack, elapsedMs) : null
  return pack !== null && battery !== null ? { pack, battery } : null
}

const freshPack: Pack = { type: 'lithium', seed: 1, charge: 100, firstPerHour: 10, perHour: 10 }
