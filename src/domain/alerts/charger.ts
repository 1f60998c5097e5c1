import type { Unit } from '../equipment/hardware.ts'
import type { Receiver } from '../equipment/receiver.ts'
import { noData } from './alert.ts'
import type { Cause } from './compare-causes.ts'

/** One cause for each pack and fault; storage mode applies to the whole charger. */
export function listChargerCauses(charger: Receiver, packs: readonly Unit[], isInhibited: boolean): readonly Cause[] {
  const causes = new Map<string, Cause>()
  for (const pack of packs) {
    const cause = toCause(charger, pack, isInhibited)
    if (cause !== null) causes.set(cause.subject, cause)
  }
  return [...causes.values()]
}

function toCause(charger: Receiver, { id, name, is_online, details }: Unit, isInhibited: boolean): Cause | null {
  const fault = details?.fault ?? null
  if (!is_online || fault === null) return null
  const isStorage = fault === 'storage_mode'
  return {
    subject: isStorage ? `charger:${charger.id}:storage` : `pack:${id}:${fault}`,
    kind: 'charger_fault',
    since: null,
    isInhibited,
    manufacturer: charger.manufacturer,
    receiver_id: charger.id,
    channel_id: null,
    data: { ...noData, name: isStorage ? charger.name : (name ?? charger.name), receiver: charger.name, fault },
  }
}
