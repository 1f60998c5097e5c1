import type { UnitType } from '../../contract/values.ts'

/** The type of the packs of a device of this type. */
export function unitTypeOf(deviceType: string): UnitType {
  if (/clearcom|beltpack/i.test(deviceType)) return 'beltpack'
  return /psm|iem|in-?ear|^ek/i.test(deviceType) ? 'iem_receiver' : 'mic_transmitter'
}

/** The kind of the slot of a channel. */
export function slotKindOf(deviceType: string): 'iem' | 'wireless' {
  return unitTypeOf(deviceType) === 'iem_receiver' ? 'iem' : 'wireless'
}
