/** Initial values of a simulated SSC 1 device, by address. */

export type SscModel = 'EWDXEM2' | 'EWDXEM4' | 'EM6000' | 'CHG70N' | 'L6000'

export function createInitialValues(model: SscModel, mac: string): Record<string, unknown> {
  const device = {
    '/device/identity/product': model,
    '/device/identity/vendor': 'Sennheiser electronic GmbH & Co. KG',
    '/device/identity/version': '3.0.4',
    '/device/name': model,
    '/device/identification/visual': false,
    '/device/network/ether/macs': [mac],
  }
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
    [`/rx${n}/skx/battery`]: ['70%', '5:12'],
    [`/rx${n}/skx/name`]: `SK ${n}`,
    [`/rx${n}/skx/type`]: ['SK A1-A4', '470 MHz', '558 MHz'],
    [`/rx${n}/skx/gain`]: -3,
  }
}

// --- Chargers ---------------------------------------------------------------------------------------------------------

export interface DockedPack {
  readonly type: string
  readonly serial: string
  readonly gauge: number
  readonly minutesToFull: number
}

/**
 * Returns the values of a CHG 70N, as lists with one value per bay, after the pack is put into the bay (numbered from
 * 1); null removes the pack.
 */
export function bayValues(
  values: ReadonlyMap<string, unknown>,
  bay: number,
  pack: DockedPack | null,
): Record<string, unknown> {
  const bayProperties = {
    device_type: pack?.type ?? 'NONE',
    serial: pack?.serial ?? '',
    bat_gauge: pack?.gauge ?? null,
    bat_timetofull: pack?.minutesToFull ?? null,
    bat_health: pack && 97,
    bat_cycles: pack && 41,
  }
  return Object.fromEntries(
    Object.entries(bayProperties).map(([name, value]) => {
      const list = values.get(`/bays/${name}`)
      return [`/bays/${name}`, Array.isArray(list) ? list.with(bay - 1, value) : [value]]
    }),
  )
}

/** An L 6000 with a module for bodypack batteries, one for handheld batteries, a defective one, and an empty slot. */
const l6000Modules = { '/slot1/type': 1, '/slot2/type': 2, '/slot3/type': 3, '/slot4/type': 0 }

/** Temperature, voltage, capacity, current, energy, remaining h:m, percent, cycles, health, h:m to full. */
const charging = [31, 3950, 1800, 420, 7, 4, 30, 82, 17, 99, 1, 5]
const noBattery = [-100, 65_280, 65_280, -1, ...Array.from({ length: 8 }, () => 65_280)]

function createL6000Batteries(): Record<string, unknown> {
  const positions = [1, 2, 3, 4].flatMap((slot) => [1, 2].map((subslot) => `${slot}.${subslot}`))
  return Object.fromEntries(
    positions.map((position) => {
      const [slot, subslot] = position.split('.')
      return [
        `/slot${slot}/subslot${subslot}/accu_parameter`,
        position === '1.1' || position === '2.2' ? charging : noBattery,
      ]
    }),
  )
}
