/**
 * Reads shows (`.shw`) and coordination workspaces (`.cws`) of Shure Wireless Workbench 6 and 7. The format is not
 * documented; the paths are those in files that Workbench 6.15 and 7.8 have written.
 */

import { isSameJson } from '../../json.ts'
import {
  type CoordinatedCarrier,
  type CoordinatedDevice,
  type Coordination,
  CoordinationFileError,
  type EquipmentProfile,
  type NamedRange,
  parseAddress,
  parseKhz,
  parseProfileKhz,
  quote,
  type SpareFrequency,
  toName,
} from './coordination.ts'
import { childrenOf, elementsAt, findAll, textAt, type XmlElement } from './xml-tree.ts'

const noGroup = /^[0{}-]*$/

export function isWwbShow({ name }: XmlElement): boolean {
  return name === 'show' || name === 'coord_workspace_ex_root'
}

export function readWwbShow(root: XmlElement): Coordination {
  const inventory = elementsAt(root, 'inventory/device')
  const groups = new Map(
    findAll(root, 'inclusion_group').flatMap(({ attributes: { uuid = '', name = '' } }) =>
      uuid === '' || name === '' ? [] : [[uuid, toName(name)]],
    ),
  )
  const entries = findAll(root, 'mic_channels').flatMap((channels) => childrenOf(channels, 'freq_entry'))
  const coordinated = entries.filter((entry) => !isSpare(entry))
  requireDifferentChannels(coordinated)
  const names = indexChannelNames(inventory)
  const carriers =
    coordinated.length > 0
      ? coordinated.flatMap((entry) => readEntry(entry, { names, groups }))
      : inventory.flatMap((device) => readInventory(device, groups))
  const scan = findAll(root, 'scan_data')[0]
  return {
    format: root.name === 'show' ? 'shw' : 'cws',
    title: toName(textAt(root, 'show_properties/show_info/name')) || null,
    carriers,
    spares: readSpares(root, entries),
    devices: inventory.length > 0 ? inventory.map(readDevice) : readEntryDevices(coordinated),
    inclusions: findInUse(root, 'inclusion_group').flatMap(readInclusions),
    exclusions: [
      ...findInUse(root, 'frequency_exclusions').flatMap(readSingles),
      ...findInUse(root, 'freq_range_exclusions').flatMap((list) => childrenOf(list, 'range').flatMap(readRange)),
    ],
    tvChannels: findInUse(root, 'channel_avoidance_info').flatMap(readTvChannels),
    excludeAboveDbm: readDbm(scan, 'threshold'),
    peakAboveDbm: readDbm(scan, 'higher_threshold'),
    profiles: findAll(root, 'compatibility_profile_settings')
      .flatMap((list) => childrenOf(list, 'profile'))
      .reduce(addProfile, []),
    skipped: [],
  }
}

/** Finds elements outside the lists of compatible frequencies (CFL), which repeat the settings they were found with. */
function findInUse(root: XmlElement, name: string): readonly XmlElement[] {
  return root.children.filter((child) => child.name !== 'CFLs').flatMap((child) => findAll(child, name))
}

/** A coordinated frequency that belongs to no channel and has no name is a backup. */
function isSpare(entry: XmlElement): boolean {
  return parseChannelId(textAt(entry, 'source_id')) === null && textAt(entry, 'source_name') === ''
}

/** An id of a channel is that of its device and an index from 0. */
function parseChannelId(id: string): { deviceKey: string; number: number } | null {
  const [, deviceKey = '', index = ''] = /^(.+)-(\d{1,2})$/.exec(id) ?? []
  const isUuid = /^[\dA-F]{8}(-[\dA-F]{4}){3}-[\dA-F]{12}$/i.test(deviceKey)
  return isUuid ? { deviceKey, number: Number(index) + 1 } : null
}

/** Only a channel with frequency diversity has two carriers. */
function requireDifferentChannels(entries: readonly XmlElement[]): void {
  const lines = new Map<string, number>()
  for (const entry of entries) {
    const id = textAt(entry, 'source_id')
    const [diversity] = childrenOf(entry, 'diversity')
    if (parseChannelId(id) === null || (diversity?.attributes.div_mode ?? '0') !== '0') continue
    const before = lines.get(id)
    if (before !== undefined) {
      throw new CoordinationFileError(`Line ${entry.line}: the channel ${quote(id)} is also on line ${before}.`)
    }
    lines.set(id, entry.line)
  }
}

/** Returns the names of channels by device and number. */
function indexChannelNames(inventory: readonly XmlElement[]): ReadonlyMap<string, string> {
  return new Map(
    inventory.flatMap((device) =>
      childrenOf(device, 'channel').map((channel) => [
        `${textAt(device, 'id')} ${channel.attributes.number ?? ''}`,
        toName(textAt(channel, 'channel_name')),
      ]),
    ),
  )
}

interface Names {
  readonly names: ReadonlyMap<string, string>
  /** Names of inclusion groups by id. */
  readonly groups: ReadonlyMap<string, string>
}

function readEntry(entry: XmlElement, { names, groups }: Names): CoordinatedCarrier[] {
  const khz = parseKhz(textAt(entry, 'value'), entry.line)
  if (khz === null) return []
  const channel = parseChannelId(textAt(entry, 'source_id'))
  const key = childrenOf(entry, 'compat_key')[0]
  const inventoryName = channel === null ? undefined : names.get(`${channel.deviceKey} ${channel.number}`)
  return [
    {
      name: inventoryName || toName(textAt(entry, 'source_name')),
      khz,
      ...equipmentIn(key, 'mode'),
      zone: readZone(textAt(key, 'zone')),
      group: readGroup(textAt(key, 'incl_group'), groups),
      isLocked: textAt(entry, 'vip') === '1',
      channel,
    },
  ]
}

/** Workbench calls the zone of everything that was not moved to another one *Default*. */
function readZone(name: string): string | null {
  return name === 'Default' ? null : toName(name) || null
}

function readGroup(id: string, groups: ReadonlyMap<string, string>): string | null {
  return noGroup.test(id) ? null : (groups.get(id) ?? null)
}

function readInventory(device: XmlElement, groups: ReadonlyMap<string, string>): CoordinatedCarrier[] {
  return childrenOf(device, 'channel').flatMap((channel) => {
    const khz = parseKhz(textAt(channel, 'frequency') || '0', channel.line)
    if (khz === null) return []
    return [
      {
        name: toName(textAt(channel, 'channel_name')),
        khz,
        series: textAt(device, 'series'),
        band: textAt(device, 'band'),
        mode: '',
        zone: readZone(textAt(device, 'zone')),
        group: readGroup(textAt(channel, 'incl_group'), groups),
        isLocked: false,
        channel: { deviceKey: textAt(device, 'id'), number: Number(channel.attributes.number) },
      },
    ]
  })
}

function readDevice(device: XmlElement): CoordinatedDevice {
  const model = toName(textAt(device, 'model'))
  return {
    key: textAt(device, 'id'),
    name: toName(textAt(device, 'device_name')) || model,
    manufacturer: toName(textAt(device, 'manufacturer')),
    model,
    address: parseAddress(textAt(device, 'ip_address')),
    serialNumber: toName(textAt(device, 'serial_number')) || null,
  }
}

/** A workspace contains no inventory: its devices are those of the frequencies. */
function readEntryDevices(entries: readonly XmlElement[]): CoordinatedDevice[] {
  const devices = new Map<string, CoordinatedDevice>()
  for (const entry of entries) {
    const key = parseChannelId(textAt(entry, 'source_id'))?.deviceKey
    if (key === undefined || devices.has(key)) continue
    const model = toName(textAt(entry, 'model'))
    const manufacturer = toName(textAt(entry, 'manufacturer'))
    devices.set(key, { key, name: model, manufacturer, model, address: null, serialNumber: null })
  }
  return [...devices.values()]
}

/** Backups are in the coordination, and in lists of compatible frequencies (CFL), which reserve those of channels. */
function readSpares(root: XmlElement, entries: readonly XmlElement[]): SpareFrequency[] {
  const spares = new Map<number, SpareFrequency>()
  const coordinated = new Set(entries.filter((entry) => !isSpare(entry)).map((entry) => textAt(entry, 'value')))
  for (const entry of entries.filter(isSpare)) {
    const [key] = childrenOf(entry, 'compat_key')
    const khz = parseKhz(textAt(entry, 'value'), entry.line)
    if (khz !== null && !spares.has(khz)) spares.set(khz, { khz, ...equipmentIn(key, 'mode') })
  }
  for (const frequency of elementsAt(root, 'CFLs/CFL/frequencies/frequency')) {
    const { value = '' } = frequency.attributes
    const khz = parseKhz(value, frequency.line)
    const isUsed = textAt(frequency, 'usage_status') === 'RESERVED' || coordinated.has(value)
    if (khz !== null && !isUsed && !spares.has(khz)) spares.set(khz, { khz, ...equipmentIn(frequency, 'tx_profile') })
  }
  return [...spares.values()]
}

function equipmentIn(element: XmlElement | undefined, modeName: string) {
  return { series: textAt(element, 'series'), band: textAt(element, 'band'), mode: textAt(element, modeName) }
}

const guards = {
  spacing: 'ch_ch',
  '2t3o': 'imd_2t3o',
  '3t3o': 'imd_3t3o',
  '2t5o': 'imd_2t5o',
  '2t7o': 'imd_2t7o',
  '2t9o': 'imd_2t9o',
} as const

/** Workbench repeats a profile for each band, zone and group. Different distances under one name are kept apart. */
function addProfile(profiles: readonly EquipmentProfile[], element: XmlElement): readonly EquipmentProfile[] {
  const profile = readProfile(element)
  if (profile === null) return profiles
  const { name: base, ...rest } = profile
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base} ${number}`
    const same = profiles.find((candidate) => candidate.name === name)
    if (same === undefined) return [...profiles, { ...rest, name }]
    if (isSameJson(same, { ...rest, name })) return profiles
  }
}

/** A show contains only the level that was chosen for the equipment. It is that of all three. */
function readProfile(profile: XmlElement): EquipmentProfile | null {
  const [chosen] = childrenOf(profile, 'compat_profile')
  const [spacing] = childrenOf(chosen, 'spacing')
  const parts = [textAt(profile, 'series'), textAt(profile, 'tx_profile'), chosen?.attributes.name ?? '']
  const words = parts.map(toName).filter((part, index, all) => part !== '' && all.indexOf(part) === index)
  if (chosen === undefined || spacing === undefined || words.length === 0) return null
  const standard = Object.fromEntries(
    Object.entries(guards).map(([kind, name]) => {
      const [guard] = childrenOf(spacing, name)
      return [kind, guard === undefined ? 0 : parseProfileKhz(guard.text, 'guard', guard.line)]
    }),
  )
  const [filter] = childrenOf(chosen, 'filter')
  const limits = ['filter_start', 'filter_end'].flatMap((name) => childrenOf(filter, name))
  const window = Math.max(0, ...limits.map(({ text, line }) => Math.abs(parseProfileKhz(text, 'filter', line))))
  return {
    name: toName(`WWB ${words.join(' ')}`),
    levels: { standard },
    window_mhz: { standard: window === 0 ? null : window / 1000 },
    is_generator: chosen.attributes.imd_source !== '0',
    source: 'Profile list of a Wireless Workbench show. Its licence is that of its author.',
  }
}

function readInclusions(group: XmlElement): NamedRange[] {
  const name = toName(group.attributes.name ?? '')
  const singles = elementsAt(group, 'freqs/f').flatMap((f) => rangeOf(name, f, f))
  const ranges = elementsAt(group, 'freq_ranges/fr').flatMap(({ children: [from, to] }) =>
    from === undefined || to === undefined ? [] : rangeOf(name, from, to),
  )
  return [...singles, ...ranges]
}

function readSingles(list: XmlElement): NamedRange[] {
  return childrenOf(list, 'channel').flatMap((channel) => {
    const [frequency] = childrenOf(channel, 'frequency')
    if (frequency === undefined || textAt(channel, 'exclude') !== '1') return []
    return rangeOf(toName(textAt(channel, 'notes')), frequency, frequency)
  })
}

function readRange(range: XmlElement): NamedRange[] {
  const [from] = elementsAt(range, 'frequency/start')
  const [to] = elementsAt(range, 'frequency/end')
  if (from === undefined || to === undefined || textAt(range, 'exclude') !== '1') return []
  return rangeOf(toName(textAt(range, 'notes')), from, to)
}

function rangeOf(name: string, from: XmlElement, to: XmlElement): NamedRange[] {
  const [fromKhz, toKhz] = [parseKhz(from.text, from.line), parseKhz(to.text, to.line)]
  if (fromKhz === null || toKhz === null) return []
  if (fromKhz > toKhz) throw new CoordinationFileError(`Line ${from.line}: the range ends before it starts.`)
  return [{ name, fromKhz, toKhz }]
}

/** The channels of digital radio, such as 10A, are left out. */
function readTvChannels(list: XmlElement): number[] {
  return childrenOf(list, 'channel').flatMap((channel) => {
    const number = textAt(channel, 'number')
    return textAt(channel, 'exclude') === 'true' && /^\d{1,3}$/.test(number) ? [Number(number)] : []
  })
}

function readDbm(scan: XmlElement | undefined, name: string): number | null {
  const text = textAt(scan, name)
  return /^-\d{1,3}(\.\d+)?$/.test(text) ? Number(text) : null
}
