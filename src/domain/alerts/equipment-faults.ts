/** The causes of alerts about faults that equipment reports about itself: packs in chargers, and receivers. */

import type { Unit } from '../equipment/hardware.ts'
import type { Receiver } from '../equipment/receiver.ts'
import { noData } from './alert.ts'
import type { Cause } from './compare-causes.ts'

/**
 * One cause for all faults of a receiver or charger, and one for each pack and fault in a charger. Storage mode applies
 * to the whole charger.
 */
export function listFaultCauses(receiver: Receiver, packs: readonly Unit[], isInhibited: boolean): readonly Cause[] {
  const causes = new Map<string, Cause>()
  for (const cause of [toReceiverCause(receiver), ...packs.map((pack) => toPackCause(receiver, pack))])
    if (cause !== null) causes.set(cause.subject, { ...cause, isInhibited })
  return [...causes.values()]
}

function toReceiverCause(receiver: Receiver): Cause | null {
  const { fault = null, faults } = receiver.details ?? {}
  if (fault === null) return null
  const data = { name: receiver.name, fault, faults: faults ?? [{ part: null, word: fault }] }
  return toCause(receiver, { subject: `equipment:${receiver.id}`, kind: 'equipment_fault', data })
}

function toPackCause(charger: Receiver, { id, name, is_online, details }: Unit): Cause | null {
  const { fault = null, faults } = details ?? {}
  if (!is_online || fault === null) return null
  const isStorage = fault === 'storage_mode'
  return toCause(charger, {
    subject: isStorage ? `charger:${charger.id}:storage` : `pack:${id}:${fault}`,
    kind: 'charger_fault',
    data: {
      name: isStorage ? charger.name : (name ?? charger.name),
      fault,
      faults: faults ?? [{ part: null, word: fault }],
    },
  })
}

function toCause(
  { id, name, manufacturer }: Receiver,
  cause: Pick<Cause, 'subject' | 'kind'> & { readonly data: Partial<Cause['data']> },
): Cause {
  return {
    ...cause,
    ...{ since: null, isInhibited: false, manufacturer, receiver_id: id, channel_id: null },
    data: { ...noData, receiver: name, ...cause.data },
  }
}
