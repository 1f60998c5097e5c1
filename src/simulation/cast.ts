/** Who takes part in a show: every manufacturer's receivers, and who of the company stands on their channels. Seeded. */

import type { Hardware } from '../model/receiver.ts'
import { chance, type Pack, type Part } from './levels.ts'

export interface ShowDevice extends Hardware {
  readonly id: string
  readonly manufacturer: string
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

export interface CastOptions {
  /** Receivers of each manufacturer; wins over `receivers`. */
  readonly manufacturers?: Readonly<Partial<Record<MakerCode, number>>>
  /** Receivers over all manufacturers (default 24). */
  readonly receivers?: number
  /** The same for all; by default what the model has. */
  readonly channelsPerReceiver?: number
  /** Number of the first receiver of each manufacturer (default 1): shows whose numbers do not overlap share no device. */
  readonly firstNumber?: number
}

interface Performer {
  readonly name: string
  readonly part: Part
}

export interface ChannelCast {
  readonly channel: number
  readonly slot: number
  readonly frequency: string
  readonly seed: number
  readonly name: string
  readonly part: Part
  /** Null: a spare channel, nobody sends on it. */
  readonly pack: Pack | null
}

export interface Cast {
  readonly device: ShowDevice
  readonly channels: readonly ChannelCast[]
}

export function castShow(seed: number, options: CastOptions): Cast[] {
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

export function firstIndex({ firstNumber = 1 }: CastOptions): number {
  return firstNumber - 1
}

function countByMaker(options: CastOptions): [MakerCode, number][] {
  if (options.manufacturers !== undefined) return Object.entries(options.manufacturers) as [MakerCode, number][]
  const receivers = options.receivers ?? 24
  const shure = Math.ceil((receivers * 13) / 24)
  return [
    ['shure', shure],
    ['sennheiser', receivers - shure],
  ]
}

export function castDevice(
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
const dancers = 'Anouk Basil Cleo Dario Edda Falko Gilda Henrik Ines Joris Katya Lorenz Mila Nils Oda Piet'
const youth = 'Alma Bruno Clara Dylan Emmy Felix Hanna Ivo Juno Kilian Leni Mattis Nora Oskar Paula Quirin'
const pit = 'Fl Petra|Ob Quentin|Cl Rhea|Hn Silas|Hp Thea|Perc Ugo|Vc Vita|Db Wim|Tba Xaver|Bsn Yara|Vla Zeno|Cel Adele'
const swings = 'Abel Britta Caspar Dagny Elin Florin Gesa Hauke Imke Jannis Kaja Lasse Marit Nele'

const company: readonly Performer[] = [
  ...leads.split(' ').map((name, at): Performer => ({ name: `H${digits(at + 1, 2)} ${name}`, part: 'song' })),
  ...ensemble.split(' ').map((name, at): Performer => ({ name: `E${digits(at + 1, 2)} ${name}`, part: 'song' })),
  ...choir.split('|').map((name): Performer => ({ name: `Choir ${name}`, part: 'song' })),
  ...band.split('|').map((name): Performer => ({ name, part: 'instrument' })),
  ...speakers.split('|').map((name, at): Performer => ({ name: `HH${at + 1} ${name}`, part: 'speech' })),
  ...understudies.split(' ').map((name, at): Performer => ({ name: `U${digits(at + 1, 2)} ${name}`, part: 'song' })),
  ...dancers.split(' ').map((name, at): Performer => ({ name: `D${digits(at + 1, 2)} ${name}`, part: 'song' })),
  ...youth.split(' ').map((name, at): Performer => ({ name: `Y${digits(at + 1, 2)} ${name}`, part: 'song' })),
  ...swings.split(' ').map((name, at): Performer => ({ name: `S${digits(at + 1, 2)} ${name}`, part: 'song' })),
  ...pit.split('|').map((name): Performer => ({ name, part: 'instrument' })),
]

/** Every seventh channel is a spare; a house larger than the company starts over with a number behind the names. */
function performerAt(place: number): Performer | null {
  if (place % 7 === 6) return null
  const number = place - Math.floor(place / 7)
  const performer = pick(company, number)
  const round = Math.floor(number / company.length)
  return round === 0 ? performer : { ...performer, name: `${performer.name} ${round + 1}` }
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
