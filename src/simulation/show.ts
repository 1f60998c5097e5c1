/**
 * A believable show: who stands on stage with which transmitter, which receivers hear them, and what happens to the
 * devices in the course of the evening. Seeded and without a clock of its own: whoever asks says how much time has passed.
 */

import type { Hardware } from '../model/receiver.ts'
import { chance, levelsAt, noiseAt, type Pack, type Part } from './levels.ts'

export interface ShowDevice extends Hardware {
  readonly id: string
  readonly manufacturer: string
}

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

export interface ShowOptions {
  readonly seed?: number
  /** Receivers of each manufacturer; wins over `receivers`. */
  readonly manufacturers?: Readonly<Partial<Record<MakerCode, number>>>
  /** Receivers over all manufacturers (default 24). */
  readonly receivers?: number
  /** The same for all; by default what the model has. */
  readonly channelsPerReceiver?: number
  /** Number of the first receiver of each manufacturer (default 1): shows whose numbers do not overlap share no device. */
  readonly firstNumber?: number
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
  add(manufacturer: MakerCode, device?: Partial<ShowDevice> & { readonly channels?: number }): string
  remove(id: string): void
}

interface Maker {
  readonly oui: string
  readonly serialPrefix: string
  readonly network: number
  readonly firstMhz: number
  readonly models: readonly Model[]
}

interface Model {
  readonly model: string
  readonly device_type: string
  readonly channels: number
  readonly firmware: string
}

const ulxd4q: Model = { model: 'ULXD4Q', device_type: 'ulxd', channels: 4, firmware: '2.7.6.0' }
const ulxd4d: Model = { model: 'ULXD4D', device_type: 'ulxd', channels: 2, firmware: '2.7.6.0' }
const ad4q: Model = { model: 'AD4Q', device_type: 'ad', channels: 4, firmware: '1.4.17.0' }
const ad4d: Model = { model: 'AD4D', device_type: 'ad', channels: 2, firmware: '1.4.17.0' }
const qlxd4: Model = { model: 'QLXD4', device_type: 'qlxd', channels: 1, firmware: '2.7.6.0' }
const dsqd: Model = { model: 'DSQD', device_type: 'dsqd', channels: 4, firmware: '1.2.0' }
const em4: Model = { model: 'EW-DX EM 4 Dante', device_type: 'ewdx', channels: 4, firmware: '4.0.0' }
const em2: Model = { model: 'EW-DX EM 2', device_type: 'ewdx', channels: 2, firmware: '4.0.0' }
const em2Dante: Model = { model: 'EW-DX EM 2 Dante', device_type: 'ewdx', channels: 2, firmware: '4.0.0' }

const makers = {
  shure: {
    oui: '00:0E:DD',
    serialPrefix: '4',
    network: 10,
    firstMhz: 470.3,
    models: [ulxd4q, ad4q, ulxd4d, ad4q, qlxd4, ad4d, ulxd4q],
  },
  sennheiser: {
    oui: '00:1B:66',
    serialPrefix: '1',
    network: 60,
    firstMhz: 538.2,
    models: [em4, em2, em2Dante, em4, em2],
  },
  lectrosonics: {
    oui: '00:24:34',
    serialPrefix: '5',
    network: 90,
    firstMhz: 502.1,
    models: [dsqd],
  },
} as const satisfies Record<string, Maker>

export type MakerCode = keyof typeof makers

interface Performer {
  readonly name: string
  readonly part: Part
}

interface ChannelCast {
  readonly channel: number
  readonly slot: number
  readonly frequency: string
  readonly seed: number
  readonly name: string
  readonly part: Part
  /** Null: a spare channel, nobody sends on it. */
  readonly pack: Pack | null
}

interface Cast {
  readonly device: ShowDevice
  readonly channels: readonly ChannelCast[]
}

/** A device with what the story and the hand made of it; good until the next event or change. */
interface Standing extends Cast {
  readonly online: boolean
  readonly silenced: ReadonlySet<number>
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
      const { channels, ...device } = given
      const made = castDevice(seed, manufacturer, first + everybody.size, {
        channels,
        firstPlace: 1000 + 8 * everybody.size,
      })
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

// --- Who is there -----------------------------------------------------------------------------------------------------

function castShow(seed: number, options: ShowOptions): Cast[] {
  const roster: Cast[] = []
  const first = firstIndex(options)
  let place = 0
  for (const [code, count] of countByMaker(options)) {
    for (let index = 0; index < count; index++) {
      const cast = castDevice(seed, code, first + index, { channels: options.channelsPerReceiver, firstPlace: place })
      place += cast.channels.length
      roster.push(cast)
    }
  }
  return roster
}

function firstIndex({ firstNumber = 1 }: ShowOptions): number {
  return firstNumber - 1
}

function countByMaker(options: ShowOptions): [MakerCode, number][] {
  if (options.manufacturers !== undefined) return Object.entries(options.manufacturers) as [MakerCode, number][]
  const receivers = options.receivers ?? 24
  const shure = Math.ceil((receivers * 13) / 24)
  return [
    ['shure', shure],
    ['sennheiser', receivers - shure],
  ]
}

function castDevice(
  seed: number,
  code: MakerCode,
  index: number,
  options: { channels?: number | undefined; firstPlace: number },
): Cast {
  const maker: Maker = makers[code]
  const kind = pick(maker.models, index)
  const own = deviceSeed(seed, code, index)
  const number = digits(index + 1, 2)
  const size = options.channels ?? kind.channels
  const device: ShowDevice = {
    id: `${code}-${kind.model.toLowerCase().replaceAll(' ', '-')}-${number}`,
    manufacturer: code,
    name: `Rack ${String.fromCharCode(65 + (Math.floor(index / 4) % 26))} ${kind.model.replace('EW-DX ', '')} ${number}`,
    device_type: kind.device_type,
    model: kind.model,
    serial_number: maker.serialPrefix + digits(chance(own, 2) * 1e4, 4) + digits(index, 5),
    mac_address: `${maker.oui}:${hexByte(chance(own, 3) * 256)}:${hexByte(index / 256)}:${hexByte(index)}`,
    ip: `10.20.${maker.network + Math.floor(index / 200)}.${11 + (index % 200)}`,
    subnet_mask: '255.255.0.0',
    gateway: '10.20.0.1',
    network_mode: 'manual',
    interface_id: `eth${index % 2}`,
    description: `${size}-channel receiver`,
    firmware_version: kind.firmware,
    hosted_firmware_version: kind.firmware,
  }
  const channels = Array.from({ length: size }, (_, at) =>
    castChannel({ seed: own + 101 * (at + 1), maker, channel: at + 1, place: options.firstPlace + at }),
  )
  return { device, channels }
}

function castChannel(about: { seed: number; maker: Maker; channel: number; place: number }): ChannelCast {
  const { seed, maker, channel, place } = about
  const performer = performerAt(place)
  const perHour = 9 + 7 * chance(seed, 60)
  return {
    channel,
    slot: place + 1,
    // Steps of 0.725 MHz stay on the 25 kHz raster and below 606 MHz, clear of the channels kept for radio astronomy.
    frequency: (maker.firstMhz + ((place * 0.725) % 66.7)).toFixed(3),
    seed,
    name: performer?.name ?? `Spare ${place + 1}`,
    part: performer?.part ?? 'speech',
    pack: performer && { charge: 45 + Math.floor(54 * chance(seed, 61)), firstPerHour: perHour, perHour },
  }
}

const leads =
  'Aurelio Brandis Calvera Doriane Elsbeth Fenwick Galatea Horatio Isaura Jorvik Kestrel Lisenka Marlowe Nerissa'
const ensemble = 'Odell Perrin Quilla Rosalba Sorrel Tancred Ulrike Vesper Wystan Ximena Yorick Zelda'
const choir = 'Soprano 1|Soprano 2|Alto 1|Alto 2|Tenor 1|Tenor 2|Bass 1|Bass 2'
const band = 'Gtr Anselm|Gtr Bo|Bass Corin|Sax Delphine|Tpt Enno|Tbn Faye|Vln Greta|Vln Hal|Acc Ilse|Keys Vox Jules'
const understudies = 'Ambrose Bettina Cosmo Delia Edgar Flora Gideon Hester'
const speakers = 'Pastor Linnea|Pastor Anton|Presenter Mara|Presenter Theo|Host Ottilie|Guest 1|Guest 2|Stage Manager'

const company: readonly Performer[] = [
  ...leads.split(' ').map((name, at): Performer => ({ name: `H${digits(at + 1, 2)} ${name}`, part: 'song' })),
  ...ensemble.split(' ').map((name, at): Performer => ({ name: `E${digits(at + 1, 2)} ${name}`, part: 'song' })),
  ...choir.split('|').map((name): Performer => ({ name: `Choir ${name}`, part: 'song' })),
  ...band.split('|').map((name): Performer => ({ name, part: 'instrument' })),
  ...speakers.split('|').map((name, at): Performer => ({ name: `HH${at + 1} ${name}`, part: 'speech' })),
  ...understudies.split(' ').map((name, at): Performer => ({ name: `U${digits(at + 1, 2)} ${name}`, part: 'song' })),
]

/** Every seventh channel is a spare; a house larger than the company starts over with a number behind the names. */
function performerAt(place: number): Performer | null {
  if (place % 7 === 6) return null
  const number = place - Math.floor(place / 7)
  const performer = pick(company, number)
  const round = Math.floor(number / company.length)
  return round === 0 ? performer : { ...performer, name: `${performer.name} ${round + 1}` }
}

// --- What happens to them ---------------------------------------------------------------------------------------------

/** Gives the roster one failing battery, and says what happens when. Who appears later is put into `late`. */
function writeStory(seed: number, roster: Cast[], late: Map<string, Cast>): StoryEvent[] {
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

function tell(cast: Cast, events: readonly StoryEvent[]): Standing {
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
  return { device, channels: cast.channels, online, silenced, changes: noChanges }
}

const noChanges: ReadonlyMap<number, ChannelChange> = new Map()

function applyChanges(
  standing: Standing,
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

function shuffled<T>(seed: number, items: readonly T[]): T[] {
  const order = items.map((item, at) => ({ item, key: chance(seed + 700, at) }))
  return order.sort((a, b) => a.key - b.key).map(({ item }) => item)
}

function deviceSeed(seed: number, code: string, index: number): number {
  let mixed = Math.imul(seed, 0x9e3779b1)
  for (const letter of code) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193)
  return mixed ^ Math.imul(index + 1, 0x85ebca6b)
}

function pick<T>(items: readonly T[], at: number): T {
  return items[at % items.length] as T
}

function digits(value: number, length: number): string {
  return String(Math.floor(value)).padStart(length, '0')
}

function hexByte(value: number): string {
  return (Math.floor(value) & 0xff).toString(16).padStart(2, '0').toUpperCase()
}
