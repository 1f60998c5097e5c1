/** Assigns a performer to a slot with one press, and changes what people entered about it. */

import { useRef, useState } from 'react'
import './slot-dialog.css'
import type { Performer } from '../../../src/contract/performers.ts'
import type { SlotRecord } from '../../../src/contract/slots.ts'
import { slotColors } from '../../../src/contract/values.ts'
import { nameKey } from '../../../src/domain/text.ts'
import type { ApiResponse } from '../../app/api.ts'
import { useServices, useSlotRecord, useWatchState } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest, useResource } from '../../app/resource.ts'
import { Dialog } from '../dialogs/dialog.tsx'
import { useShowUndoable } from '../dialogs/messages.tsx'
import { Field, TextField } from '../forms/field.tsx'
import { Form } from '../forms/form.tsx'
import { Loaded } from '../loaded.tsx'
import { type Conflict, colorName, SlotConflict } from './slot-conflict.tsx'
import {
  type ChosenPerformer,
  changedEntries,
  emptyRecord,
  entriesOf,
  presentSlot,
  type SlotEntries,
  toSlotChange,
  versionOf,
} from './slot-entries.ts'

interface SlotDialogProps {
  readonly slot: number
  onClose(): void
}

export function SlotDialog({ slot, onClose }: SlotDialogProps) {
  const record = useSlotRecord(slot)
  const performers = useResource('/api/performers/', 'list', ['performers'])
  return (
    <Dialog title={t('slot.title', { slot })} onClose={onClose}>
      <Loaded resource={performers}>
        {(known) => <SlotForm opened={record ?? emptyRecord(slot)} performers={known} onClose={onClose} />}
      </Loaded>
    </Dialog>
  )
}

interface SlotFormProps {
  readonly opened: SlotRecord
  readonly performers: readonly Performer[]
  onClose(): void
}

function SlotForm({ opened, performers, onClose }: SlotFormProps) {
  const { api, watch } = useServices()
  const showUndoable = useShowUndoable()
  const request = useRequest()
  // Fixed when the dialog opens, because messages must not change the form.
  const [base, setBase] = useState(opened)
  const [changes, setChanges] = useState<Partial<SlotEntries>>({})
  const [conflict, setConflict] = useState<Conflict | null>(null)
  const isFollowed = useIsFollowed(base)
  const entries: SlotEntries = { ...entriesOf(base), ...changes }
  const set = (entered: Partial<SlotEntries>) => setChanges((before) => ({ ...before, ...entered }))

  const write = async (chosen: Partial<SlotEntries> = {}): Promise<ApiResponse<SlotRecord>> => {
    const all = { ...changes, ...chosen }
    const slot = presentSlot(base, watch.get())
    const names = changedEntries(entriesOf(base), { ...entriesOf(base), ...all })
    const body = toSlotChange(Object.fromEntries(names.map((name) => [name, all[name]])), base)
    const response = await api.write('PUT', `/api/slots/${slot}/`, body, 'object', versionOf(base))
    if (response.ok || response.problem.status !== 412) {
      if (response.ok) finish(doneText(slot, all), response.undoId)
      return response
    }
    const current = (response.problem.current as SlotRecord | null) ?? emptyRecord(slot)
    setConflict({ before: base, current, mine: all })
    setBase(current)
    setChanges(all)
    return { ok: false, problem: { ...response.problem, field: undefined, detail: t('slot.conflict.title', { slot }) } }
  }
  const finish = (text: string, undoId: string | undefined) => {
    onClose()
    showUndoable(text, [undoId])
  }
  const choose = (performer: ChosenPerformer | null) =>
    void request.send(() => write(performer === null ? { performer, role: '' } : { performer }))
  const clear = () =>
    void request.send(async () => {
      const slot = presentSlot(base, watch.get())
      const response = await api.write('DELETE', `/api/slots/${slot}/`, undefined, 'nothing', versionOf(base))
      if (response.ok) finish(t('slot.cleared', { slot }), response.undoId)
      return response
    })
  const keepTheirs = (left: Partial<SlotEntries>) => {
    if (Object.keys(left).length === 0) return onClose()
    setChanges(left)
    setConflict(null)
    request.forget()
  }
  return (
    <Form
      action={t('slot.save')}
      request={request}
      send={() => write()}
      onDone={() => {}}
      others={
        <>
          <button type="button" className="choice" onClick={onClose}>
            {t('parts.dialog.cancel')}
          </button>
          {base.version === 0 && base.placeholder_id === null ? null : (
            <button type="button" className="choice" data-tone="alarm" disabled={request.isSending} onClick={clear}>
              {t('slot.clear')}
            </button>
          )}
        </>
      }
    >
      <div className="slot-parts">
        {isFollowed ? null : (
          <PerformerChoice
            performers={performers}
            current={entries.performer}
            isDisabled={request.isSending}
            onChoose={choose}
          />
        )}
        <div className="form">
          {isFollowed ? null : <EntryField name="role" {...{ entries, set }} />}
          <EntryField name="label" {...{ entries, set }} hint={t('slot.labelHint')} />
          <ColorChoice value={entries.color} onChange={(color) => set({ color })} />
          {isFollowed ? null : (
            <>
              <Field
                name="planned.frequency"
                label={t('slot.fields.frequency')}
                hint={t('arrange.placeholder.frequencyHint')}
                required={false}
                inputMode="decimal"
                autoComplete="off"
                value={entries.frequency}
                onChange={({ target }) => set({ frequency: target.value })}
              />
              <TextField
                name="note"
                label={t('slot.fields.note')}
                rows={2}
                maxLength={4096}
                value={entries.note}
                onChange={({ target }) => set({ note: target.value })}
              />
            </>
          )}
        </div>
      </div>
      {conflict === null ? null : (
        <SlotConflict
          conflict={conflict}
          onKeepMine={() => void request.send(() => write())}
          onKeepTheirs={keepTheirs}
        />
      )}
    </Form>
  )
}

/** Only the label and the color of a followed channel's slot can be set here. */
function useIsFollowed({ channel_id }: SlotRecord): boolean {
  return useWatchState(({ receivers }) =>
    [...receivers.values()].some(
      ({ site, channels }) => site !== null && channels.some((channel) => channel.id === channel_id),
    ),
  )
}

function doneText(slot: number, { performer }: Partial<SlotEntries>): string {
  if (performer === undefined) return t('slot.saved', { slot })
  return performer === null
    ? t('slot.unassigned', { slot })
    : t('slot.assigned', { slot, name: plainText(performer.name) })
}

interface EntryFieldProps {
  readonly name: 'role' | 'label'
  readonly entries: SlotEntries
  readonly hint?: string
  set(entered: Partial<SlotEntries>): void
}

function EntryField({ name, entries, hint, set }: EntryFieldProps) {
  return (
    <Field
      name={name}
      label={t(`slot.fields.${name}`)}
      hint={hint}
      required={false}
      maxLength={255}
      autoComplete="off"
      value={entries[name]}
      onChange={({ target }) => set({ [name]: target.value })}
    />
  )
}

interface PerformerChoiceProps {
  readonly performers: readonly Performer[]
  readonly current: ChosenPerformer | null
  readonly isDisabled: boolean
  onChoose(performer: ChosenPerformer | null): void
}

function PerformerChoice({ performers, current, isDisabled, onChoose }: PerformerChoiceProps) {
  const [search, setSearch] = useState('')
  // On a touch screen the keyboard would cover the names.
  const focusesSearch = useRef(matchMedia('(pointer: fine)').matches)
  const name = search.trim()
  const found = performers
    .filter((performer) => nameKey(`${performer.name} ${performer.notes}`).includes(nameKey(name)))
    .toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
  const isNew = name !== '' && performers.every((performer) => nameKey(performer.name) !== nameKey(name))
  const first = found[0] ?? { id: null, name }
  return (
    <fieldset className="field">
      <legend>{t('slot.fields.performer')}</legend>
      <input
        className="input"
        type="search"
        aria-label={t('slot.search')}
        placeholder={t('slot.search')}
        // biome-ignore lint/a11y/noAutofocus: the dialog has been opened to search.
        autoFocus={focusesSearch.current}
        autoComplete="off"
        maxLength={255}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || name === '' || event.nativeEvent.isComposing) return
          event.preventDefault()
          onChoose(first)
        }}
      />
      <ul className="assign-list" aria-label={t('performers.list')}>
        {current === null || name !== '' ? null : (
          <li>
            <button type="button" className="choice" disabled={isDisabled} onClick={() => onChoose(null)}>
              {t('card.unassign', { name: plainText(current.name) })}
            </button>
          </li>
        )}
        {found.map((performer) => (
          <li key={performer.id}>
            <button
              type="button"
              className="choice"
              aria-pressed={current?.id === performer.id}
              disabled={isDisabled || current?.id === performer.id}
              onClick={() => onChoose(performer)}
            >
              <bdi dir="auto">{plainText(performer.name)}</bdi>
              <span className="assign-notes">{plainText(performer.notes)}</span>
            </button>
          </li>
        ))}
        {isNew ? (
          <li>
            <button type="button" className="choice" disabled={isDisabled} onClick={() => onChoose({ id: null, name })}>
              {t('slot.assignNew', { name: plainText(name) })}
            </button>
          </li>
        ) : null}
      </ul>
      {performers.length === 0 && name === '' ? <p className="hint">{t('slot.noPerformers')}</p> : null}
    </fieldset>
  )
}

interface ColorChoiceProps {
  readonly value: SlotEntries['color']
  onChange(color: SlotEntries['color']): void
}

function ColorChoice({ value, onChange }: ColorChoiceProps) {
  return (
    <fieldset className="field">
      <legend>{t('slot.fields.color')}</legend>
      <div className="swatches">
        {(['', ...slotColors] as const).map((color) => (
          <label key={color} className="swatch" title={colorName(color)}>
            <input
              type="radio"
              name="color"
              style={color === '' ? undefined : { background: `var(--slot-${color})` }}
              checked={value === color}
              onChange={() => onChange(color)}
            />
            <span className="visually-hidden">{colorName(color)}</span>
          </label>
        ))}
      </div>
    </fieldset>
  )
}
