import { Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import type { Group } from '../../src/contract/groups.ts'
import { pathOf } from '../../src/domain/pages.ts'
import { type Edit, firstFreeSlot, type Placing, planChange } from '../app/arrangement.ts'
import { t } from '../app/i18n.ts'
import type { View } from '../app/view.ts'
import { Confirmation } from '../parts/dialogs/dialog.tsx'
import { useRegion } from '../parts/use-region.ts'
import type { Edits } from './use-edits.ts'

interface ArrangeBarProps {
  readonly shown: Group | null
  readonly edits: Edits
  readonly placing: Placing
  setPlacing(placing: Placing): void
  readonly isSelecting: boolean
  setSelecting(isSelecting: boolean): void
  change(view: Partial<View>): void
  onPlaceholder(): void
  onDone(): void
}

export function ArrangeBar(props: ArrangeBarProps) {
  const { shown, edits, placing, setPlacing, isSelecting, setSelecting, change, onPlaceholder, onDone } = props
  const region = useRegion<HTMLDivElement>()
  return (
    <div className="arrange-bar" ref={region}>
      <strong>{t('arrange.title')}</strong>
      <button
        type="button"
        className="choice"
        aria-pressed={isSelecting}
        title={t('arrange.selectSeveralHint')}
        onClick={() => setSelecting(!isSelecting)}
      >
        {t('arrange.selectSeveral')}
      </button>
      {shown === null ? (
        <fieldset className="segments" title={t('arrange.placingHint')}>
          <legend className="visually-hidden">{t('arrange.placing.label')}</legend>
          {(['swap', 'insert'] as const).map((value) => (
            <button
              key={value}
              type="button"
              className="choice"
              aria-pressed={placing === value}
              onClick={() => setPlacing(value)}
            >
              {t(`arrange.placing.${value}`)}
            </button>
          ))}
        </fieldset>
      ) : null}
      <button type="button" className="choice" onClick={onPlaceholder}>
        {t('arrange.placeholder.add')}
      </button>
      {shown === null ? (
        <OneLineForm
          label={t('arrange.newGroupTitle')}
          action={t('arrange.create')}
          placeholder={t('arrange.newGroup')}
          onText={(title) =>
            edits.dispatch(() => ({
              type: 'create_group',
              group: { id: 0, title, slots: [], hide_charts: false, zone: null, manufacturer: null, version: 0 },
            }))
          }
        />
      ) : (
        <GroupTools key={shown.id} {...{ shown, edits, change }} />
      )}
      <Link className="choice" to={pathOf('cast')}>
        {t('shell.pages.cast.title')}
      </Link>
      <span className="arrange-end">
        <Link className="choice" to={pathOf('undo')}>
          {t('arrange.undoList')}
        </Link>
        <button type="button" className="choice" disabled={!edits.canUndo} onClick={() => void edits.undo()}>
          {t('arrange.undo')}
        </button>
        <button type="button" className="choice" onClick={onDone}>
          {t('arrange.done')}
        </button>
      </span>
    </div>
  )
}

function GroupTools({ shown, edits, change }: { shown: Group } & Pick<ArrangeBarProps, 'edits' | 'change'>) {
  const [isDeleting, setDeleting] = useState(false)
  const changeShown = (change: Parameters<typeof planChange>[1]) => edits.dispatch(planChange(shown.id, change))
  const withSlot = (slot: number) => planChange(shown.id, ({ slots }) => ({ slots: [...new Set([...slots, slot])] }))
  const add = (slot: number) => edits.dispatch(withSlot(slot))
  const addBlank = () => {
    let slot: number | null = null
    void edits.dispatch(({ holders, groups }) => {
      const planned = groups.flatMap((group) => group.slots.map((slot) => ({ slot })))
      slot = firstFreeSlot([...holders, ...planned])
      return {
        type: 'add_placeholder',
        placeholder: { id: 0, slot, kind: 'blank', name: '', frequency: null, note: '', version: 0 },
      }
    })
    // Dispatched at once, so that no other edit comes between the two.
    void edits.dispatch((arrangement) => {
      const added = arrangement.holders.find((holder) => holder.kind === 'placeholder' && holder.slot === slot)
      return added === undefined ? null : withSlot(added.slot)(arrangement)
    })
  }
  const remove = async () => {
    setDeleting(false)
    if (await edits.dispatch(({ groups }) => deletionOf(groups, shown.id))) change({ group: null })
  }
  return (
    <>
      <OneLineForm
        label={t('arrange.groupTitle')}
        action={t('arrange.rename')}
        initial={shown.title}
        onText={(title) => changeShown(() => ({ title }))}
      />
      <OneLineForm
        label={t('arrange.planSlotLabel')}
        action={t('arrange.planSlot')}
        isNumber={true}
        onText={(text) => add(Number(text))}
      />
      <button type="button" className="choice" onClick={addBlank}>
        {t('arrange.addBlank')}
      </button>
      <button
        type="button"
        className="choice"
        aria-pressed={shown.hide_charts}
        onClick={() => void changeShown((group) => ({ hide_charts: !group.hide_charts }))}
      >
        {t('arrange.hideCharts')}
      </button>
      <button type="button" className="choice" onClick={() => setDeleting(true)}>
        {t('arrange.delete')}
      </button>
      {isDeleting ? (
        <Confirmation
          title={t('arrange.deleteTitle', { title: shown.title })}
          action={t('arrange.delete')}
          tone="alarm"
          isSending={false}
          problem={null}
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        >
          <p>{t('arrange.deleteText', { count: shown.slots.length })}</p>
        </Confirmation>
      ) : null}
    </>
  )
}

function deletionOf(groups: readonly Group[], id: number): Edit | null {
  const group = groups.find((group) => group.id === id)
  return group === undefined ? null : { type: 'delete_group', group }
}

interface OneLineFormProps {
  readonly label: string
  readonly action: string
  readonly initial?: string
  readonly placeholder?: string
  readonly isNumber?: boolean
  onText(text: string): Promise<boolean>
}

function OneLineForm({ label, action, initial = '', placeholder, isNumber = false, onText }: OneLineFormProps) {
  const [text, setText] = useState(initial)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '' || text.trim() === initial) return
    if ((await onText(text.trim())) && initial === '') setText('')
  }
  const limits = isNumber ? { type: 'number', min: 1, max: 65_535, step: 1 } : { type: 'text', maxLength: 255 }
  return (
    <form className="one-line" onSubmit={submit}>
      <input
        className="choice"
        aria-label={label}
        placeholder={placeholder ?? label}
        required={true}
        value={text}
        onChange={(event) => setText(event.target.value)}
        {...limits}
      />
      <button type="submit" className="choice">
        {action}
      </button>
    </form>
  )
}
