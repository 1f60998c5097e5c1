/**
 * Reads the slots of a channel: the transmitters that are linked or registered to it. Axient Digital and ANX4 have
 * eight slots per channel, SLX-D+ has two. Pure.
 */

import type { TransmitterSlot } from '../../../domain/equipment/receiver.ts'
import { withoutUndefined } from '../../../upstream/fields.ts'
import type { ChannelValues } from './families.ts'
import type { RawValue } from './fields.ts'
import { fields } from './fields.ts'

const slotNumbers = [1, 2, 3, 4, 5, 6, 7, 8]
/** The keys of the status of each slot. Most channels have none of them. */
const statusKeys = slotNumbers.flatMap((slot) => [`SLOT_STATUS ${slot}`, `LINK_STATUS ${slot}`])

/** Returns the occupied slots of a channel; undefined if it has reported none. */
export function readSlots(ofChannel: ChannelValues): readonly TransmitterSlot[] | undefined {
  if (statusKeys.every((key) => ofChannel(key) === undefined)) return undefined
  const slots = slotNumbers.flatMap((slot) => readSlot(ofChannel, slot) ?? [])
  const onAir = findOnAir(slots, ofChannel)
  return slots.map((slot) => ({ ...slot, on_air: slot.slot === onAir }))
}

/** Returns the number of the slot whose transmitter the channel receives; undefined if that is unknown. */
export function onAirSlot(slots: readonly TransmitterSlot[] | undefined): number | undefined {
  return slots?.find(({ on_air }) => on_air)?.slot
}

/** Reads a slot without its on-air state; null if it is empty. */
function readSlot(ofChannel: ChannelValues, slot: number): TransmitterSlot | null {
  const get = (key: string): RawValue => ofChannel(`${key} ${slot}`)
  const status = fields.slotStatus.read(get('SLOT_STATUS') ?? get('LINK_STATUS'))
  const rawModel = get('SLOT_TX_MODEL') ?? get('LINK_TX_MODEL')
  const model = rawModel === undefined ? undefined : readModel(rawModel)
  // An SLX-D+ reports an empty slot as an offline one without a model.
  const isEmpty = !status || (get('LINK_STATUS') === 'offline' && !model)
  if (isEmpty) return null
  return withoutUndefined<TransmitterSlot>({
    slot,
    status,
    on_air: false,
    model,
    name: fields.transmitterName.read(get('SLOT_TX_DEVICE_ID')),
    rf_muted: fields.slotRfMuted.read(get('SLOT_RF_OUTPUT')),
    battery: fields.charge.read(get('SLOT_BATT_CHARGE_PERCENT')),
    battery_bars: fields.bars.read(get('SLOT_BATT_BARS')),
    battery_minutes: fields.minutes.read(get('SLOT_BATT_MINS')),
    battery_type: fields.batteryType.read(get('SLOT_BATT_TYPE')),
  })
}

function readModel(raw: string): string | null {
  return /^UNK/.test(raw) ? null : (fields.transmitterModel.read(raw) ?? null)
}

/**
 * Finds the slot whose transmitter the channel receives. Several transmitters can be active, for instance a spare pack
 * whose RF output is muted, so the model and the name must match the received transmitter. If not exactly one slot
 * matches, the first active one whose RF output is not muted is used.
 */
function findOnAir(slots: readonly TransmitterSlot[], get: ChannelValues): number | undefined {
  const model = readModel(get('TX_MODEL') ?? '')
  if (!model) return undefined
  const name = fields.transmitterName.read(get('TX_DEVICE_ID'))
  const candidates = slots.filter(({ status, rf_muted }) => status !== 'inactive' && rf_muted !== true)
  const matches = candidates.filter((slot) => slot.model === model && (!name || slot.name === name))
  const [match = candidates.find(({ status }) => status === 'active')] = matches.length === 1 ? matches : []
  return match?.slot
}
