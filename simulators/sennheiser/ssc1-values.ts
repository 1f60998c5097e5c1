/** Initial values of a simulated SSC 1 device, by address. */

/**
 * The SpeechLine models are named as in the examples of TI 1094, except for `SLDW2CH`: the guide contains no example of
 * an SL MCR 2 DW.
 */
export type SscModel =
  | 'EWDXEM2'
  | 'EWDXEM4'
  | 'EM6000'
  | 'CHG70N'
  | 'L6000'
  | 'SLDW'
  | 'SLDW2CH'
  | 'SLDW4CH'
  | 'CHG2N'
  | 'CHG4N'

export function createInitialValues(model: SscModel, mac: string): Record<string, unknown> {
  const device = {
    '/device/identity/product': model,
    '/device/identity/vendor': 'Sennheiser electronic GmbH & Co. KG',
    '/device/identity/version': '3.0.4',
    '/device/name': model,
    '/device/identification/visual': false,
    '/device/network/ether/macs': [mac],
  }
  const { '/device/identification/visual': _, ...withoutVisual } = device
  switch (model) {
    case 'EWDXEM2':
      return Object.assign(device, ewdxDevice, ...[1, 2].map(createEwdxChannel))
    case 'EWDXEM4':
      return Object.assign(device, ewdxDevice, ...[1, 2, 3, 4].map(createEwdxChannel))
    case 'EM6000':
      return Object.assign(device, d6000Device, ...[1, 2].map(createD6000Channel))
    case 'CHG70N':
      return {
        ...device,
        ...{ '/device/storage_mode': false, '/device/warnings': [] },
        ...{ '/bays/device_type': ['EW-DX SK', 'NONE'], '/bays/state': ['NORMAL', 'NORMAL'] },
        ...{ '/bays/serial': ['1054000123', ''], '/bays/version': ['4.0.2', ''], '/bays/warnings': ['', ''] },
        ...{ '/bays/bat_gauge': [64, null], '/bays/bat_health': [97, null] },
        ...{ '/bays/bat_cycles': [41, null], '/bays/bat_timetofull': [75, null] },
      }
    case 'L6000':
      return { ...device, ...l6000Modules, ...createL6000Batteries() }
    case 'SLDW':
      return { ...withoutVisual, '/device/warnings': ['NONE'], ...slRack, ...createSpeechLineChannel(1, 'index') }
    case 'SLDW2CH':
      return Object.assign(device, { '/device/warnings': ['NONE'] }, ...[1, 2].map(createSlMcrChannel))
    case 'SLDW4CH':
      return Object.assign(device, { '/device/warnings': ['NONE'] }, ...[1, 2, 3, 4].map(createSlMcrChannel))
    case 'CHG2N':
      return { ...withoutVisual, ...createSpeechLineBays(2) }
    case 'CHG4N':
      return { ...withoutVisual, ...createSpeechLineBays(4) }
  }
}

/** Returns the values of a channel whose transmitter is switched on or off. */
export function linkValues(model: SscModel, channel: number, isLinked: boolean): Record<string, unknown> {
  const warnings = `/rx${channel}/warnings`
  switch (model) {
    case 'EM6000':
      return {
        [`/rx${channel}/active_warnings`]: isLinked ? [] : ['NoLink'],
        [`/rx${channel}/skx/battery`]: isLinked ? ['70%', '5:12'] : [],
      }
    case 'SLDW':
      return { [warnings]: [isLinked ? '' : 'No Link'], '/mates/active': isLinked ? ['tx1'] : [] }
    case 'SLDW2CH':
    case 'SLDW4CH':
      return { [warnings]: [isLinked ? '' : 'No Link'], [`/mates/tx${channel}/active`]: isLinked }
    default:
      return { [warnings]: isLinked ? [] : ['NoLink'] }
  }
}

const ewdxDevice = {
  '/device/encryption': false,
  '/device/frequency_code': 'R1-9',
  '/device/link_density_mode': false,
}

function createEwdxChannel(n: number): Record<string, unknown> {
  return {
    [`/rx${n}/name`]: `MIC ${n}`,
    [`/rx${n}/identification/visual`]: false,
    [`/rx${n}/frequency`]: 538_200 + 600 * (n - 1),
    [`/rx${n}/mute`]: false,
    [`/rx${n}/gain`]: 12,
    [`/rx${n}/mates`]: [`tx${n}`],
    [`/rx${n}/warnings`]: [],
    [`/mates/tx${n}/type`]: 'SKM-S',
    [`/mates/tx${n}/name`]: `HAND ${n}`,
    [`/mates/tx${n}/capsule`]: 'MMD_835',
    [`/mates/tx${n}/lowcut`]: '80 Hz',
    [`/mates/tx${n}/mute`]: false,
    [`/mates/tx${n}/trim`]: 0,
    [`/mates/tx${n}/warnings`]: [],
    [`/mates/tx${n}/battery/gauge`]: 83,
    [`/mates/tx${n}/battery/lifetime`]: 412,
    [`/mates/tx${n}/battery/type`]: 'Battery',
    [`/m/rx${n}/rssi`]: -58,
    [`/m/rx${n}/rsqi`]: 100,
    [`/m/rx${n}/af`]: -21.5,
    [`/m/rx${n}/divi`]: 1,
  }
}

/** The guide's example: -86 and -101 dBm, both antennas, 50%, -45 dBFS. */
const d6000Meters = [83, 0, 53, 0, 1, 1, 128, 165, 0]

const d6000Device = { '/mm': [d6000Meters, d6000Meters], '/sys/booster': true }

function createD6000Channel(n: number): Record<string, unknown> {
  return {
    [`/rx${n}/name`]: `CH ${n}`,
    [`/rx${n}/carrier`]: 482_000 + 400 * n,
    [`/rx${n}/active_bank_channel`]: ['b1', n],
    [`/rx${n}/audio_mute`]: false,
    [`/rx${n}/encryption`]: false,
    [`/rx${n}/active_warnings`]: [],
    [`/rx${n}/active_status`]: [],
    [`/rx${n}/skx/battery`]: ['70%', '5:12'],
    [`/rx${n}/skx/name`]: `SK ${n}`,
    [`/rx${n}/skx/type`]: ['SK A1-A4', '470 MHz', '558 MHz'],
    [`/rx${n}/skx/gain`]: -3,
  }
}

// --- SpeechLine -------------------------------------------------------------------------------------------------------

const slRack = {
  '/rx1/identify': false,
  '/mates/active': ['tx1'],
  '/audio/out1/gain_db': 4,
  '/audio/out1/level_db': -20,
}

/** An SL Rack Receiver DW reports indexes, an SL MCR DW names. */
function createSpeechLineChannel(n: number, form: 'index' | 'name'): Record<string, unknown> {
  return {
    [`/rx${n}/rf_quality`]: 100,
    [`/rx${n}/mute_state`]: false,
    [`/rx${n}/warnings`]: [''],
    [`/mates/tx${n}/device_type`]: form === 'index' ? 1 : 'BODYPACK',
    [`/mates/tx${n}/acoustic`]: 'Mic',
    [`/mates/tx${n}/bat_type`]: form === 'index' ? 1 : 'RECHARGEABLE',
    [`/mates/tx${n}/bat_gauge`]: 67,
    [`/mates/tx${n}/bat_lifetime`]: 36_240,
    [`/mates/tx${n}/bat_health`]: 100,
    [`/mates/tx${n}/bat_cycles`]: 1,
    [`/mates/tx${n}/warnings`]: [''],
  }
}

function createSlMcrChannel(n: number): Record<string, unknown> {
  return {
    ...createSpeechLineChannel(n, 'name'),
    [`/rx${n}/name`]: `rx${n}`,
    [`/rx${n}/identification/visual`]: false,
    [`/mates/tx${n}/active`]: true,
    [`/audio/rx${n}/gain`]: 0,
    [`/m/rx${n}/level`]: -20,
  }
}

// --- Chargers ---------------------------------------------------------------------------------------------------------

/** A pack in a bay; `type` is as the charger reports it: a model on a CHG 70N, a number on a CHG 2N and CHG 4N. */
export interface DockedPack {
  readonly type: string | number
  readonly serial: string
  readonly gauge: number
  readonly minutesToFull: number
}

/**
 * Returns the values of a charger, as lists with one value per bay, after the pack is put into the bay (numbered from
 * 1); null removes the pack. An empty bay is reported as null on a CHG 70N, and as 0 on a CHG 2N and CHG 4N.
 */
export function bayValues(
  values: ReadonlyMap<string, unknown>,
  bay: number,
  pack: DockedPack | null,
): Record<string, unknown> {
  const hasActive = values.has('/bays/active')
  const none = hasActive ? 0 : null
  const bayProperties = {
    ...(hasActive && { active: pack !== null }),
    device_type: pack?.type ?? (hasActive ? 0 : 'NONE'),
    serial: pack?.serial ?? '',
    bat_gauge: pack?.gauge ?? none,
    bat_timetofull: pack?.minutesToFull ?? none,
    bat_health: pack ? 97 : none,
    bat_cycles: pack ? 41 : none,
  }
  return Object.fromEntries(
    Object.entries(bayProperties).map(([name, value]) => {
      const list = values.get(`/bays/${name}`)
      return [`/bays/${name}`, Array.isArray(list) ? list.with(bay - 1, value) : [value]]
    }),
  )
}

/** A CHG 2N or CHG 4N with a bodypack in its first bay. */
function createSpeechLineBays(count: number): Record<string, unknown> {
  const list = (first: unknown, empty: unknown) => [first, ...Array.from({ length: count - 1 }, () => empty)]
  return {
    '/bays/active': list(true, false),
    '/bays/device_type': list(2, 0),
    '/bays/serial': list('1454100123', ''),
    '/bays/bat_gauge': list(64, 0),
    '/bays/bat_timetofull': list(75, 0),
    '/bays/bat_health': list(97, 0),
    '/bays/bat_cycles': list(41, 0),
    '/bays/identify': list(false, false),
    '/bays/state': [list(0, 0), list(0, 0)],
  }
}

/** An L 6000 with two modules for bodypack batteries, one for handheld batteries, and an empty slot. */
const l6000Modules = { '/slot1/type': 1, '/slot2/type': 2, '/slot3/type': 1, '/slot4/type': 0, '/device/warnings': [] }

/** Temperature, voltage, capacity, current, energy, remaining h:m, percent, cycles, health, h:m to full. */
const charging = [31, 3950, 1800, 420, 7, 4, 30, 82, 17, 99, 1, 5]
const noBattery = [-100, 65_280, 65_280, -1, ...Array.from({ length: 8 }, () => 65_280)]

function createL6000Batteries(): Record<string, unknown> {
  const positions = [1, 2, 3, 4].flatMap((slot) => [1, 2].map((subslot) => `${slot}.${subslot}`))
  return Object.fromEntries(
    positions.flatMap((position) => {
      const [slot, subslot] = position.split('.')
      const isOccupied = position === '1.1' || position === '2.2'
      const branch = `/slot${slot}/subslot${subslot}`
      return [
        [`${branch}/accu_parameter`, isOccupied ? charging : noBattery],
        [`${branch}/led`, isOccupied ? 'GREEN_FLASHING' : 'OFF'],
      ]
    }),
  )
}
