/**
 * Reads the microphones of an MXW channel: a primary and a secondary one on MXW, one on MXW neXt. Pure. Source: Shure's
 * command strings for MXW and MXW neXt.
 */

import type { ChargingState } from '../../../contract/values.ts'
import type { TransmitterReading, TransmitterSlot } from '../../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import type { ChannelValues } from './families.ts'
import type { RawValue } from './fields.ts'
import { fields } from './fields.ts'

/** The prefixes of the keys of the two microphones. */
const prefixes = ['', 'SEC '] as const

/** Returns the microphone that is on; null if none is, and undefined if that is unknown. */
export function readMxwMicrophone(ofChannel: ChannelValues): TransmitterReading | null | undefined {
  const prefix = findPrefixInUse(ofChannel)
  if (prefix === null) return ofChannel('TX_STATUS') === undefined ? undefined : null
  const get = (key: string): RawValue => ofChannel(prefix + key)
  return withoutUndefined({
    name: fields.transmitterName.read(get('TX_DEVICE_ID')),
    battery: fields.charge.read(get('BATT_CHARGE')),
    details: withoutUndefined({
      model: readModel(get),
      muted: fields.mutedByStatus.read(get('TX_STATUS')),
      battery_minutes: fields.minutesOfMxw.read(get('BATT_RUN_TIME')),
      battery_health: fields.health.read(get('BATT_HEALTH')),
    }),
  })
}

/** Returns both microphones of a channel as slots; undefined if no secondary one is linked. */
export function readMxwSlots(ofChannel: ChannelValues): readonly TransmitterSlot[] | undefined {
  if (!readModel((key) => ofChannel(`SEC ${key}`))) return undefined
  const inUse = findPrefixInUse(ofChannel)
  return prefixes.flatMap((prefix, index) => {
    const get = (key: string): RawValue => ofChannel(prefix + key)
    const model = readModel(get)
    if (!model) return []
    return withoutUndefined<TransmitterSlot>({
      slot: index + 1,
      status: isOn(get) ? 'active' : 'inactive',
      on_air: prefix === inUse,
      model,
      name: fields.transmitterName.read(get('TX_DEVICE_ID')),
      battery: fields.charge.read(get('BATT_CHARGE')),
      battery_minutes: fields.minutesOfMxw.read(get('BATT_RUN_TIME')),
    })
  })
}

/** Returns the state of a microphone in its charger if none of the channel is on; undefined until one has reported. */
export function readMxwCharging(ofChannel: ChannelValues): ChargingState | null | undefined {
  if (ofChannel('TX_STATUS') === undefined) return undefined
  const docked = prefixes.find((prefix) => fields.docked.read(ofChannel(`${prefix}TX_STATUS`)) === true)
  if (docked === undefined || findPrefixInUse(ofChannel) !== null) return null
  return fields.charge.read(ofChannel(`${docked}BATT_CHARGE`)) === 100 ? 'full' : 'charging'
}

/** Returns the meter values of the microphone that is on, or of the primary one. */
export function mxwSample(ofChannel: ChannelValues): RawValue {
  return ofChannel(`${findPrefixInUse(ofChannel) ?? ''}SAMPLE`)
}

function findPrefixInUse(ofChannel: ChannelValues): (typeof prefixes)[number] | null {
  return prefixes.find((prefix) => isOn((key) => ofChannel(prefix + key))) ?? null
}

function isOn(get: ChannelValues): boolean {
  const isMuted = fields.mutedByStatus.read(get('TX_STATUS')) ?? null
  return isMuted !== null && fields.available.read(get('TX_AVAILABLE')) !== false
}

/** MXW neXt reports TX_MODEL, MXW TX_TYPE. */
function readModel(get: ChannelValues): string | null | undefined {
  const model = get('TX_MODEL') ?? get('TX_TYPE')
  return model === undefined ? undefined : /^(?:UNK|ERR)/.test(model) ? null : fields.transmitterModel.read(model)
}
