import type { ReactNode } from 'react'
import { t } from '../../app/i18n.ts'
import { toIso } from '../../app/service-time.ts'
import './conflict.css'
import { Ago } from '../age.tsx'
import type { KeptInput } from './kept-input.ts'
import type { Change, Conflict } from './use-edit.tsx'

interface ConflictPanelProps {
  readonly conflict: Conflict
  onKeepMine(): void
  onKeepTheirs(): void
}

/** Shows the changes that another user made meanwhile, and lets the user keep either or both. */
export function ConflictPanel({ conflict: { changes, other }, onKeepMine, onKeepTheirs }: ConflictPanelProps) {
  const isOverlapping = changes.some(({ mine }) => mine !== null)
  return (
    <Panel label={t('parts.form.conflict.label')}>
      <ul>
        {other === null ? null : <li>{other}</li>}
        {changes.map((change) => (
          <ChangeItem key={change.name} change={change} />
        ))}
      </ul>
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onKeepMine}>
          {t(isOverlapping ? 'parts.form.conflict.keepMine' : 'parts.form.conflict.keepBoth')}
        </button>
        <button type="button" className="choice" onClick={onKeepTheirs}>
          {t('parts.form.conflict.keepTheirs')}
        </button>
      </div>
    </Panel>
  )
}

function ChangeItem({ change: { label, before, after, mine } }: { change: Change }) {
  return (
    <li>
      {t('parts.form.conflict.change', { field: label, before, after })}
      {mine === null ? null : <strong> {t('parts.form.conflict.yours', { value: mine })}</strong>}
    </li>
  )
}

/** For a record that another user has deleted meanwhile. */
export function AddAgain({ onAdd }: { onAdd(): void }) {
  return (
    <Panel label={t('parts.form.conflict.label')}>
      <div className="dialog-actions">
        <button type="button" className="choice" onClick={onAdd}>
          {t('parts.form.conflict.add')}
        </button>
      </div>
    </Panel>
  )
}

interface KeptInputOfferProps {
  readonly input: KeptInput
  onRestore(): void
  onDiscard(): void
}

export function KeptInputOffer({ input, onRestore, onDiscard }: KeptInputOfferProps) {
  return (
    <section className="kept-input" aria-label={t('parts.form.kept.label')}>
      <p>
        {t('parts.form.kept.label')} <Ago at={toIso(input.at)} />
      </p>
      <button type="button" className="choice" onClick={onRestore}>
        {t('parts.form.kept.restore')}
      </button>
      <button type="button" className="choice" onClick={onDiscard}>
        {t('parts.form.kept.discard')}
      </button>
    </section>
  )
}

function Panel({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    <section className="form-conflict" ref={scrollIntoView} aria-label={label}>
      {children}
    </section>
  )
}

/** The panel is at the end of a form that may be longer than the screen. */
function scrollIntoView(element: HTMLElement | null): void {
  element?.scrollIntoView({ block: 'center' })
}
