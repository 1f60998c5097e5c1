/** Shows the changes that another user made meanwhile, and lets the user keep either or both. */

import type { SlotRecord } from '../../../src/contract/slots.ts'
import { isSameJson } from '../../../src/domain/json.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { changedEntries, type EntryName, entriesOf, type SlotEntries } from './slot-entries.ts'

export interface Conflict {
  readonly before: SlotRecord
  readonly current: SlotRecord
  readonly mine: Partial<SlotEntries>
}

interface SlotConflictProps {
  readonly conflict: Conflict
  onKeepMine(): void
  /** Called with the entries that only this person has changed. */
  onKeepTheirs(left: Partial<SlotEntries>): void
}

export function SlotConflict({ conflict: { before, current, mine }, onKeepMine, onKeepTheirs }: SlotConflictProps) {
  const [old, theirs] = [entriesOf(before), entriesOf(current)]
  const changed = changedEntries(old, theirs)
  const isMine = (name: EntryName) => mine[name] !== undefined && !isSameJson(mine[name], theirs[name])
  const isOverlapping = changed.some(isMine)
  const left = Object.fromEntries(Object.entries(mine).filter(([name]) => !changed.includes(name as EntryName)))
  const isOther = before.channel_id !== current.channel_id || before.placeholder_id !== current.placeholder_id
  return (
    <section className="slot-conflict" ref={scrollIntoView} aria-label={t('slot.conflict.label')}>
      <ul>
        {isOther ? (
          <li>
            {t('slot.conflict.equipment', { slot: current.slot, title: plainText(current.title ?? t('card.none')) })}
          </li>
        ) : null}
        {changed.map((name) => (
          <li key={name}>
            {t('slot.conflict.change', {
              field: t(`slot.fields.${name}`),
              before: textOf(name, old),
              after: textOf(name, theirs),
            })}
            {isMine(name) ? <strong> {t('slot.conflict.yours', { value: textOf(name, mine) })}</strong> : null}
          </li>
        ))}
      </ul>
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onKeepMine}>
          {t(isOverlapping ? 'slot.conflict.keepMine' : 'slot.conflict.keepBoth')}
        </button>
        <button type="button" className="choice" onClick={() => onKeepTheirs(isOverlapping ? left : {})}>
          {t('slot.conflict.keepTheirs')}
        </button>
      </div>
    </section>
  )
}

/** The panel is at the end of a dialog that may be longer than the screen. */
function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'center' })
}

export function colorName(color: SlotEntries['color'] | undefined): string {
  return color ? t(`card.colors.${color}`) : t('slot.noColor')
}

function textOf(name: EntryName, entries: Partial<SlotEntries>): string {
  const value = name === 'color' ? colorName(entries.color) : entries[name]
  const text = typeof value === 'object' ? value?.name : value
  return plainText(text || t('card.none'))
}
