/** Reads equipment profiles of Shure Wireless Workbench (`.eqp`) as frequency profiles. */

import type { GuardLevel } from '../../../contract/values.ts'
import { formatMhz, type Guards } from '../carrier.ts'
import type { ProfileChange } from '../profile-changes.ts'
import { CoordinationFileError, type EquipmentProfile, parseProfileKhz, toName } from './coordination.ts'
import { childrenOf, elementsAt, khzAt, textAt, type XmlElement } from './xml-tree.ts'

/** Workbench writes `more_frequencies` where profiles have `more`. */
const attributeOf = { robust: 'robust', standard: 'standard', more: 'more_frequencies' } as const
const levels = Object.keys(attributeOf) as GuardLevel[]

const intermodulation = {
  '2t3o': 'two_trans_spacing/third_order',
  '2t5o': 'two_trans_spacing/fifth_order',
  '2t7o': 'two_trans_spacing/seventh_order',
  '2t9o': 'two_trans_spacing/ninth_order',
  '3t3o': 'three_trans_spacing/third_order',
} as const

export function isEquipmentProfile({ name }: XmlElement): boolean {
  return name === 'equipment_profile'
}

export function readEquipmentProfile(root: XmlElement): EquipmentProfile[] {
  const profiles = childrenOf(root, 'device').map(readDevice)
  if (profiles.length === 0) throw new CoordinationFileError('The equipment profile contains no device.')
  return profiles
}

function readDevice(device: XmlElement): EquipmentProfile {
  const name = toName(`${textAt(device, 'identification/manufacturer')} ${textAt(device, 'identification/model')}`)
  if (name === '')
    throw new CoordinationFileError(`Line ${device.line}: the device has neither manufacturer nor model.`)
  const [rf] = childrenOf(device, 'rf_info')
  const [spacing] = elementsAt(rf, 'spacing_info')
  if (spacing === undefined) throw new CoordinationFileError(`Line ${device.line}: the device has no spacing_info.`)
  const [band] = childrenOf(rf, 'band_info')
  const [stepSize] = childrenOf(band, 'step_size')
  return {
    name,
    levels: perLevel((level) => readGuards(spacing, level)),
    window_mhz: perLevel((level) => readWindow(spacing, level)),
    ...(stepSize !== undefined && { step_khz: parseProfileKhz(stepSize.text, 'step', stepSize.line) }),
    is_generator: textAt(rf, 'imd_source') !== '0',
    ...(band !== undefined && { bands: readBand(band) }),
    source: 'Equipment profile of Wireless Workbench. Its licence is that of its author.',
  }
}

function perLevel<Value>(read: (level: GuardLevel) => Value): Record<GuardLevel, Value> {
  return Object.fromEntries(levels.map((level) => [level, read(level)])) as Record<GuardLevel, Value>
}

function readGuards(spacing: XmlElement, level: GuardLevel): Guards {
  const products = Object.entries(intermodulation).map(([kind, path]) => {
    return [kind, khzOf(elementsAt(spacing, `intermods/${path}`)[0], level, 'guard')]
  })
  return {
    spacing: khzOf(childrenOf(spacing, 'channel_spacing')[0], level, 'guard'),
    ...(Object.fromEntries(products) as Omit<Guards, 'spacing'>),
  }
}

/** The limits of the filter are distances from the carrier; the greater one counts. */
function readWindow(spacing: XmlElement, level: GuardLevel): number | null {
  const [filter] = childrenOf(spacing, 'filter')
  const limits = ['start', 'end'].map((end) => Math.abs(khzOf(childrenOf(filter, end)[0], level, 'filter')))
  const khz = Math.max(...limits)
  return khz === 0 ? null : khz / 1000
}

function khzOf(element: XmlElement | undefined, level: GuardLevel, kind: 'guard' | 'filter'): number {
  return element === undefined ? 0 : parseProfileKhz(element.attributes[attributeOf[level]] ?? '0', kind, element.line)
}

function readBand(band: XmlElement): NonNullable<ProfileChange['bands']> {
  const [from, to] = [khzAt(band, 'start'), khzAt(band, 'end')]
  if (from === null || to === null) return []
  if (from > to) throw new CoordinationFileError(`Line ${band.line}: the band ends before it starts.`)
  const name = toName(textAt(band, 'band')).slice(0, 64) || 'band'
  return [{ name, ranges: [{ from: formatMhz(from), to: formatMhz(to) }] }]
}
