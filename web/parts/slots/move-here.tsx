/** Offers to move a performer to the slot in which their pack is received. */

import type { SlotRecord } from '../../../src/contract/slots.ts'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { useRemeasure, useServices, useWatchState } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { recordOf } from '../../app/slot-records.ts'
import type { WatchState } from '../../app/watch-state.ts'
import { useShowMessage, useShowUndoable } from '../dialogs/messages.tsx'

interface MoveHereProps {
  readonly facts: Pick<ChannelFacts, 'channelId' | 'isLive'>
  readonly className: string
}

export function MoveHere({ facts: { channelId, isLive }, className }: MoveHereProps) {
  const offer = useWatchState((watchState) => offersIn(watchState).get(channelId))
  return offer === undefined || !isLive ? null : <MoveButton {...{ offer, className }} />
}

interface MoveButtonProps {
  readonly offer: Offer
  readonly className: string
}

function MoveButton({ offer, className }: MoveButtonProps) {
  const { send, isSending } = useRequest()
  const move = useMove()
  useRemeasure()
  const { from, to, name } = offer
  return (
    <button
      type="button"
      className={className}
      title={t('slot.receivedHere', { name, from: from.slot, to: to.slot })}
      aria-disabled={isSending || undefined}
      onClick={() => void send(() => move(offer))}
    >
      {t('slot.moveHere', { name })}
    </button>
  )
}

interface Offer {
  readonly name: string
  /** The slot of the performer. */
  readonly from: SlotRecord
  /** The slot that receives the pack. */
  readonly to: SlotRecord
}

/** Exchanges the people of the two slots. */
function useMove() {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const showUndoable = useShowUndoable()
  return async ({ name, from, to }: Offer) => {
    const body = { with: from.slot, what: 'people' }
    const response = await api.write('POST', `/api/slots/${to.slot}/swap`, body, 'object', to.version)
    if (!response.ok) {
      showMessage({ text: response.problem.detail, tone: 'alarm' })
      return response
    }
    const other = to.performer === null ? null : plainText(to.performer.name)
    const text =
      other === null
        ? t('slot.movedHere', { name, from: from.slot, to: to.slot })
        : t('slot.exchangedHere', { name, other, from: from.slot, to: to.slot })
    showUndoable(text, [response.undoId])
    return response
  }
}

type Offers = ReadonlyMap<number, Offer>
type Read = Pick<WatchState, 'assignments' | 'slotRecords'>

const offersByRecords = new WeakMap<
  Read['slotRecords'],
  { readonly assignments: Read['assignments']; readonly offers: Offers }
>()

/** By the channel that receives the pack. Computed once for all cards. */
function offersIn({ assignments, slotRecords }: Read): Offers {
  const known = offersByRecords.get(slotRecords)
  if (known?.assignments === assignments) return known.offers
  const bySlot = [...slotRecords.values()].toSorted((a, b) => b.slot - a.slot)
  // The lowest slot of each performer.
  const slotOf = new Map(bySlot.map((record) => [record.performer?.id, record]))
  const offers = new Map(
    assignments.flatMap(({ channel_id, performer: { id } }): [number, Offer][] => {
      if (channel_id === null || id === null) return []
      const to = recordOf(slotRecords, { kind: 'channel', id: channel_id })
      const from = slotOf.get(id)
      if (to === undefined || from === undefined || to.performer?.id === id) return []
      return [[channel_id, { name: plainText(from.performer?.name ?? ''), from, to }]]
    }),
  )
  offersByRecords.set(slotRecords, { assignments, offers })
  return offers
}
