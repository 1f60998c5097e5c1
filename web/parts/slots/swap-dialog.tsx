/** Swaps the people or the equipment of a slot with those of another one. */

import './swap-dialog.css'
import { useState } from 'react'
import { type SwapKind, swapKinds } from '../../../src/contract/values.ts'
import { useServices, useSlotRecord, useWatchState } from '../../app/context.ts'
import { formatPercent, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest } from '../../app/resource.ts'
import { searchFor } from '../channels/search.ts'
import { type SlotContent, useSlotContents } from '../channels/slots.ts'
import { Dialog, DialogEnd } from '../dialogs/dialog.tsx'
import { useShowUndoable } from '../dialogs/messages.tsx'
import { ProblemLine } from '../dialogs/notice.tsx'
import { StateIcon } from '../state-icon.tsx'

/** With more slots, searching is quicker than scrolling. */
const mostListed = 50

interface SwapDialogProps {
  readonly slot: number
  onClose(): void
}

export function SwapDialog({ slot, onClose }: SwapDialogProps) {
  const { api } = useServices()
  const showUndoable = useShowUndoable()
  const { send, isSending, problem } = useRequest()
  const [search, setSearch] = useState('')
  const record = useSlotRecord(slot)
  const spares = record?.spares ?? []
  const others = useOtherSlots(slot)
  const matches = searchFor(search)
  const found = others.filter(
    (other) => !spares.includes(other.slot) && matches(`${other.slot} ${other.name}`.toLocaleLowerCase(), null),
  )
  const swap = async (other: number, what: SwapKind) => {
    const body = { with: other, what }
    const response = await send(() => api.write('POST', `/api/slots/${slot}/swap`, body, 'object', record?.version))
    if (!response?.ok) return
    onClose()
    showUndoable(t(`swap.done.${what}`, { a: slot, b: other }), [response.undoId])
  }
  const list = (title: string, contents: readonly SlotContent[]) => (
    <ul className="swap-list" aria-label={title}>
      {contents.map((content) => (
        <Other key={content.slot} content={content} isSending={isSending} onSwap={swap} />
      ))}
    </ul>
  )
  return (
    <Dialog title={t('swap.title', { slot, name: plainText(record?.title ?? t('card.none')) })} onClose={onClose}>
      <p className="dialog-text">{t('swap.intro')}</p>
      {problem === null ? null : <ProblemLine problem={problem} />}
      {spares.length === 0 ? null : (
        <section className="swap-part">
          <h3>{t('swap.spares')}</h3>
          {list(
            t('swap.spares'),
            others.filter((other) => spares.includes(other.slot)),
          )}
        </section>
      )}
      <section className="swap-part">
        <h3>{t('swap.others')}</h3>
        <input
          className="choice search"
          type="search"
          aria-label={t('swap.search')}
          placeholder={t('swap.search')}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
        {list(t('swap.others'), found.slice(0, mostListed))}
        {found.length === 0 ? <p>{t('swap.nothing')}</p> : null}
        {found.length > mostListed ? <p>{t('swap.more', { count: found.length - mostListed })}</p> : null}
      </section>
      <DialogEnd onClose={onClose} />
    </Dialog>
  )
}

/** Slots of sites cannot be swapped here. */
function useOtherSlots(slot: number): readonly SlotContent[] {
  const slotRecords = useWatchState((watchState) => watchState.slotRecords)
  const slots = [...slotRecords.values()].filter((other) => other.slot !== slot && other.kind !== 'blank')
  const contents = useSlotContents(slots.map((other) => other.slot).toSorted((a, b) => a - b))
  return contents.filter(({ facts }) => facts === null || facts.site === null)
}

interface OtherProps {
  readonly content: SlotContent
  readonly isSending: boolean
  onSwap(slot: number, what: SwapKind): Promise<void>
}

function Other({ content: { slot, name, facts }, isSending, onSwap }: OtherProps) {
  return (
    <li>
      <span className="swap-name">
        <small>{slot}</small> <bdi>{name}</bdi>
      </span>
      {facts === null ? null : (
        <span className="swap-state">
          <StateIcon state={facts.state} />
          {t(`states.${facts.state}`)}
          {facts.battery === null ? null : ` · ${formatPercent(facts.battery)}`}
        </span>
      )}
      <span className="swap-choices">
        {swapKinds.map((what) => (
          <button
            key={what}
            type="button"
            className="choice"
            disabled={isSending}
            aria-label={t(`swap.with.${what}`, { name, slot })}
            onClick={() => void onSwap(slot, what)}
          >
            {t(`swap.${what}`)}
          </button>
        ))}
      </span>
    </li>
  )
}
