/** Reads projects (`.wsm`) of Sennheiser Wireless Systems Manager. The paths are those in a file that WSM 4.9 has written. */

import {
  type CoordinatedCarrier,
  type CoordinatedDevice,
  type CoordinatedEquipment,
  type Coordination,
  CoordinationFileError,
  parseAddress,
  quote,
  type SpareFrequency,
  toName,
} from './coordination.ts'
import { childrenOf, elementsAt, khzAt, textAt, type XmlElement } from './xml-tree.ts'

export function isWsm({ name }: XmlElement): boolean {
  return name === 'WSM'
}

export function readWsm(root: XmlElement): Coordination {
  const [manager] = childrenOf(root, 'FrequencyManager')
  const devices = elementsAt(manager, 'Devices/Device')
  requireDifferentIds(devices)
  const zones = readZones(manager)
  const isCoordinated = devices.some((device) => khzAt(device, 'AllocatedFrequency') !== null)
  const frequency = isCoordinated ? 'AllocatedFrequency' : 'Frequency'
  return {
    format: 'wsm',
    title: null,
    carriers: devices.flatMap((device) => readCarrier(device, { frequency, zones })),
    spares: readSpares(manager, devices),
    devices: devices.map((device) => readDevice(device, root)),
    inclusions: [],
    exclusions: [],
    tvChannels: [],
    excludeAboveDbm: null,
    peakAboveDbm: null,
    profiles: [],
    skipped: [],
  }
}

function requireDifferentIds(devices: readonly XmlElement[]): void {
  const lines = new Map<string, number>()
  for (const { attributes, line } of devices) {
    const { UniqueId: id = '' } = attributes
    const before = lines.get(id)
    if (before !== undefined) {
      throw new CoordinationFileError(`Line ${line}: the device ${quote(id)} is also on line ${before}.`)
    }
    lines.set(id, line)
  }
}

/** Returns the names of system regions by the id of the device. */
function readZones(manager: XmlElement | undefined): ReadonlyMap<string, string> {
  return new Map(
    elementsAt(manager, 'SystemRegions/SystemRegion').flatMap((region) =>
      elementsAt(region, 'DeviceList/DeviceId').map(({ text }) => [text.trim(), toName(region.attributes.Name ?? '')]),
    ),
  )
}

function readCarrier(
  device: XmlElement,
  { frequency, zones }: { readonly frequency: string; readonly zones: ReadonlyMap<string, string> },
): CoordinatedCarrier[] {
  const khz = khzAt(device, frequency)
  const key = device.attributes.UniqueId ?? ''
  if (khz === null) return []
  return [
    {
      name: toName(textAt(device, 'Name')),
      khz,
      ...equipmentOf(textAt(device, 'StationaryDeviceType')),
      zone: zones.get(key) || null,
      group: null,
      isLocked: !['', '0'].includes(textAt(device, 'FixedFrequency')),
      channel: { deviceKey: key, number: 1 },
    },
  ]
}

/** A device of the frequency manager is one channel. Addresses are in the list of devices of the project, by name. */
function readDevice(device: XmlElement, root: XmlElement): CoordinatedDevice {
  const name = toName(textAt(device, 'Name'))
  const named = childrenOf(root, 'Device').filter((other) => name !== '' && toName(textAt(other, 'Name')) === name)
  return {
    key: device.attributes.UniqueId ?? '',
    name,
    manufacturer: 'Sennheiser',
    model: toName(textAt(device, 'StationaryDeviceType')),
    address: named.length === 1 ? parseAddress(textAt(named[0], 'IPAddress')) : null,
    serialNumber: null,
  }
}

function readSpares(manager: XmlElement | undefined, devices: readonly XmlElement[]): SpareFrequency[] {
  const types = new Map(devices.map((device) => [device.attributes.UniqueId, textAt(device, 'StationaryDeviceType')]))
  return elementsAt(manager, 'SpareGroups/SpareGroup').flatMap((group) => {
    const [first] = elementsAt(group, 'DeviceList/DeviceId')
    return elementsAt(group, 'SparesList/Spare').flatMap((spare) => {
      const khz = khzAt(spare, 'AllocatedFrequency')
      return khz === null ? [] : [{ khz, ...equipmentOf(types.get(first?.text.trim()) ?? '') }]
    })
  })
}

/** WSM writes the transmission mode behind the type: `EW-DX EM2/EM4 (LD on)`. */
function equipmentOf(type: string): CoordinatedEquipment {
  return { series: type.replace(/ \(LD o(n|ff)\)$/, ''), band: '', mode: type.endsWith('(LD on)') ? 'LD' : '' }
}
