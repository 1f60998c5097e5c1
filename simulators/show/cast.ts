/**
 * Generates a simulated show: receivers, and the performers on their channels. A seed always generates the same show.
 */

import type { Hardware } from '../../src/domain/equipment/receiver.ts'
import { type BatteryType, drainOf, type Pack } from './battery.ts'
import { chance, type Part } from './levels.ts'

export interface ShowDevice extends Hardware {
  readonly id: string
  readonly manufacturer: string
}

interface ManufacturerProfile {
  readonly oui: string
  readonly serialPrefix: string
  readonly network: number
  readonly firstMhz: number
  readonly batteryType: BatteryType
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
const esw: Model = { model: 'ESW-R4180DAN', device_type: 'esw', channels: 8, firmware: '1.2.3' }
const system20: Model = { model: 'ATW-R1440', device_type: 'system20', channels: 4, firmware: '1.0.5' }
const eswCharger: Model = { model: 'ESW-CHG4', device_type: 'charger', channels: 4, firmware: '1.0.1' }
const ndr1: Model = { model: 'N-DR1', device_type: 'ndr1', channels: 2, firmware: '1.2.0' }
const arcadia: Model = { model: 'NEP-ARCADIA', device_type: 'clearcom', channels: 6, firmware: '2.7.1' }
const baseTwo: Model = { model: 'FSII-BASE-II', device_type: 'clearcom', channels: 5, firmware: '1.6.15' }
const em4: Model = { model: 'EW-DX EM 4 Dante', device_type: 'ewdx', channels: 4, firmware: '4.0.0' }
const em2: Model = { model: 'EW-DX EM 2', device_type: 'ewdx', channels: 2, firmware: '4.0.0' }
const em2Dante: Model = { model: 'EW-DX EM 2 Dante', device_type: 'ewdx', channels: 2, firmware: '4.0.0' }

const manufacturerProfiles = {
  shure: {
    oui: '00:0E:DD',
    serialPrefix: '4',
    network: 10,
    firstMhz: 470.3,
    batteryType: 'lithium',
    models: [ulxd4q, ad4q, ulxd4d, ad4q, qlxd4, ad4d, ulxd4q],
  },
  sennheiser: {
    oui: '00:1B:66',
    serialPrefix: '1',
    network: 60,
    firstMhz: 538.2,
    batteryType: 'nimh',
    models: [em4, em2, em2Dante, em4, em2],
  },
  lectrosonics: {
    oui: '00:24:34',
    serialPrefix: '5',
    network: 90,
    firstMhz: 502.1,
    batteryType: 'lithium',
    models: [dsqd],
  },
  audio_technica: {
    oui: '02:41:54',
    serialPrefix: '7',
    network: 100,
    firstMhz: 1920,
    batteryType: 'nimh',
    models: [system20, esw, eswCharger],
  },
  dpa: {
    oui: '02:44:50',
    serialPrefix: '8',
    network: 110,
    firstMhz: 470.1,
    batteryType: 'lithium',
    models: [ndr1],
  },
  clearcom: {
    oui: '02:43:43',
    serialPrefix: '9',
    network: 120,
    firstMhz: 1880,
    batteryType: 'lithium',
    models: [arcadia, baseTwo],
  },
} as const satisfies Record<string, ManufacturerProfile>

export type SimulatedManufacturer = keyof typeof manufacturerProfiles

export interface CastOptions {
  /** Number of receivers per manufacturer; overrides `receivers`. */
  readonly manufacturers?: Readonly<Partial<Record<SimulatedManufacturer, number>>>
  /** Total number of receivers (default 24). */
  readonly receivers?: number
  /** Channels of every receiver. Default: those of the receiver's model. */
  readonly channelsPerReceiver?: number
  /**
   * Number of each manufacturer's first receiver (default 1). Two shows share no device if their receivers' numbers do
   * not overlap.
   */
  readonly firstNumber?: number
}

interface Performer {
  readonly name: string
  readonly part: Part
}

export interface ChannelSetup {
  readonly channel: number
  readonly slot: number
  readonly frequency: string
  readonly seed: number
  readonly name: string
  readonly part: Part
  /** Null for a spare channel without a transmitter. */
  readonly pack: Pack | null
}

export interface DeviceSetup {
  readonly device: ShowDevice
  readonly channels: readonly ChannelSetup[]
}

export function createDeviceSetups(seed: number, options: CastOptions): DeviceSetup[] {
  const setups: DeviceSetup[] = []
  const first = firstIndex(options)
  let position = 0
  for (const [code, count] of countByManufacturer(options)) {
    for (let index = 0; index < count; index++) {
      const setup = createDeviceSetup(seed, code, first + index, {
        channels: options.channelsPerReceiver,
        firstPerformer: position,
      })
      position += setup.channels.length
      setups.push(setup)
    }
  }
  return setups
}

export function firstIndex({ firstNumber = 1 }: CastOptions): number {
  return firstNumber - 1
}

function countByManufacturer(options: CastOptions): [SimulatedManufacturer, number][] {
  if (options.manufacturers !== undefined)
    return Object.entries(options.manufacturers) as [SimulatedManufacturer, number][]
  const receivers = options.receivers ?? 24
  const shure = Math.ceil((receivers * 13) / 24)
  return [
    ['shure', shure],
    ['sennheiser', receivers - shure],
  ]
}

export function createDeviceSetup(
  seed: number,
  code: SimulatedManufacturer,
  index: number,
  options: { channels?: number | undefined; firstPerformer: number; batteryType?: BatteryType | undefined },
): DeviceSetup {
  const profile: ManufacturerProfile = manufacturerProfiles[code]
  const model = pick(profile.models, index)
  const ownSeed = deviceSeed(seed, code, index)
  const number = digits(index + 1, 2)
  const size = options.channels ?? model.channels
  const device: ShowDevice = {
    id: `${code}-${model.model.toLowerCase().replaceAll(' ', '-')}-${number}`,
    manufacturer: code,
    name: `Rack ${String.fromCharCode(65 + (Math.floor(index / 4) % 26))} ${model.model.replace('EW-DX ', '')} ${number}`,
    device_type: model.device_type,
    model: model.model,
    serial_number: profile.serialPrefix + digits(chance(ownSeed, 2) * 1e4, 4) + digits(index, 5),
    mac_address: `${profile.oui}:${hexByte(chance(ownSeed, 3) * 256)}:${hexByte(index / 256)}:${hexByte(index)}`,
    ip: `10.20.${profile.network + Math.floor(index / 200)}.${11 + (index % 200)}`,
    subnet_mask: '255.255.0.0',
    gateway: '10.20.0.1',
    network_mode: 'manual',
    interface_id: `eth${index % 2}`,
    description: `${size}-channel receiver`,
    firmware_version: model.firmware,
    hosted_firmware_version: model.firmware,
  }
  const channels = Array.from({ length: size }, (_, index) =>
    createChannelSetup({
      seed: ownSeed + 101 * (index + 1),
      manufacturer: code,
      profile,
      batteryType: options.batteryType ?? profile.batteryType,
      channel: index + 1,
      position: options.firstPerformer + index,
    }),
  )
  return { device, channels }
}

function createChannelSetup(options: {
  seed: number
  manufacturer: string
  profile: ManufacturerProfile
  batteryType: BatteryType
  channel: number
  position: number
}): ChannelSetup {
  const { seed, manufacturer, profile, batteryType: type, channel, position } = options
  const performer = findPerformer(position)
  const perHour = drainOf(type, seed)
  const charge = 45 + Math.floor(54 * chance(seed, 61))
  return {
    channel,
    slot: position + 1,
    frequency: frequencyAt(manufacturer, position, profile.firstMhz),
    seed,
    name: performer?.name ?? `Spare ${position + 1}`,
    part: performer?.part ?? 'speech',
    pack: performer && { type, seed, charge, firstPerHour: perHour, perHour },
  }
}

const leads =
  'Aurelio Brandis Calvera Doriane Elsbeth Fenwick Galatea Horatio Isaura Jorvik Kestrel Lisenka Marlowe Nerissa'
const ensemble = 'Odell Perrin Quilla Rosalba Sorrel Tancred Ulrike Vesper Wystan Ximena Yorick Zelda'
const choir = 'Soprano 1|Soprano 2|Alto 1|Alto 2|Tenor 1|Tenor 2|Bass 1|Bass 2'
const band = 'Gtr Anselm|Gtr Bo|Bass Corin|Sax Delphine|Tpt Enno|Tbn Faye|Vln Greta|Vln Hal|Acc Ilse|Keys Vox Jules'
const understudies = 'Ambrose Bettina Cosmo Delia Edgar Flora Gideon Hester'
const speakers = 'Pastor Linnea|Pastor Anton|Presenter Mara|Presenter Theo|Host Ottilie|Guest 1|Guest 2|Stage Manager'
const dancers = 'Anouk Basil Cleo Dario Edda Falko Gilda Henrik Ines Joris Katya Lorenz Mila Nils Oda Piet'
const youth = 'Alma Bruno Clara Dylan Emmy Felix Hanna Ivo Juno Kilian Leni Mattis Nora Oskar Paula Quirin'
const pit = 'Fl Petra|Ob Quentin|Cl Rhea|Hn Silas|Hp Thea|Perc Ugo|Vc Vita|Db Wim|Tba Xaver|Bsn Yara|Vla Zeno|Cel Adele'
const swings = 'Abel Britta Caspar Dagny Elin Florin Gesa Hauke Imke Jannis Kaja Lasse Marit Nele'

const company: readonly Performer[] = [
  ...leads.split(' ').map((name, index): Performer => ({ name: `H${digits(index + 1, 2)} ${name}`, part: 'song' })),
  ...ensemble.split(' ').map((name, index): Performer => ({ name: `E${digits(index + 1, 2)} ${name}`, part: 'song' })),
  ...choir.split('|').map((name): Performer => ({ name: `Choir ${name}`, part: 'song' })),
  ...band.split('|').map((name): Performer => ({ name, part: 'instrument' })),
  ...speakers.split('|').map((name, index): Performer => ({ name: `HH${index + 1} ${name}`, part: 'speech' })),
  ...understudies
    .split(' ')
    .map((name, index): Performer => ({ name: `U${digits(index + 1, 2)} ${name}`, part: 'song' })),
  ...dancers.split(' ').map((name, index): Performer => ({ name: `D${digits(index + 1, 2)} ${name}`, part: 'song' })),
  ...youth.split(' ').map((name, index): Performer => ({ name: `Y${digits(index + 1, 2)} ${name}`, part: 'song' })),
  ...swings.split(' ').map((name, index): Performer => ({ name: `S${digits(index + 1, 2)} ${name}`, part: 'song' })),
  ...pit.split('|').map((name): Performer => ({ name, part: 'instrument' })),
]

/**
 * Returns a channel's performer. Every seventh channel is a spare. After the last performer, names repeat with a
 * number.
 */
function findPerformer(position: number): Performer | null {
  if (position % 7 === 6) return null
  const number = position - Math.floor(position / 7)
  const performer = pick(company, number)
  const round = Math.floor(number / company.length)
  return round === 0 ? performer : { ...performer, name: `${performer.name} ${round + 1}` }
}

function deviceSeed(seed: number, code: string, index: number): number {
  let mixed = Math.imul(seed, 0x9e3779b1)
  for (const letter of code) mixed = Math.imul(mixed ^ letter.charCodeAt(0), 0x01000193)
  return mixed ^ Math.imul(index + 1, 0x85ebca6b)
}

function pick<T>(items: readonly T[], index: number): T {
  return items[index % items.length] as T
}

function digits(value: number, length: number): string {
  return String(Math.floor(value)).padStart(length, '0')
}

function hexByte(value: number): string {
  return (Math.floor(value) & 0xff).toString(16).padStart(2, '0').toUpperCase()
}

/**
 * Position of a performer -> MHz of the following performers. This service's own suggestions at the standard distance
 * produced the frequencies of the demo, so that its page of frequencies shows few conflicts. All others are 0.725 MHz
 * apart.
 */
const coordinated: Readonly<Record<string, readonly (readonly [first: number, mhz: string])[]>> = {
  shure: [
    [0, '470.300 470.650 471.075 471.425 492.050 492.750 493.175 493.975 471.925 472.275'],
    [10, '494.375 494.900 495.300 496.550 472.700 496.900 497.550 473.050 473.650 474.050'],
    [20, '474.525 474.875 475.300 476.425 476.850 498.350 499.325 500.075 500.550 477.200'],
    [30, '477.700 500.900 501.325 503.175 504.125 478.050 506.800 507.600'],
    [70, '478.475 479.325 480.425 481.075 481.875'],
    [78, '547.200 550.100'],
    [82, '554.375 555.800'],
    [86, '532.600 533.450 533.950 534.675 589.300 595.050'],
    [94, '531.925 593.475'],
  ],
  sennheiser: [[98, '606.850']],
  lectrosonics: [[130, '491.650 535.625 536.150 536.900']],
}

const byPosition = new Map(
  Object.entries(coordinated).flatMap(([manufacturer, blocks]) =>
    blocks.flatMap(([first, mhz]) =>
      mhz.split(' ').map((frequency, index) => [`${manufacturer} ${first + index}`, frequency] as const),
    ),
  ),
)

/** Returns MHz with three decimals. `firstMhz` is the lowest frequency of the manufacturer. */
function frequencyAt(manufacturer: string, position: number, firstMhz: number): string {
  // Steps of 0.725 MHz stay on the 25 kHz grid and below 606 MHz, clear of the radio astronomy band.
  return byPosition.get(`${manufacturer} ${position}`) ?? (firstMhz + ((position * 0.725) % 66.7)).toFixed(3)
}
