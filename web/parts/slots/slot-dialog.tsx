/** Assigns a performer to a slot with one press, and changes what people entered about it. */

import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import './slot-dialog.css'
import type { Performer } from '../../../src/contract/performers.ts'
import type { SlotRecord } from '../../../src/contract/slots.ts'
import { slotColors } from '../../../src/contract/values.ts'
import { holderOf } from '../../../src/domain/equipment/slot-entry.ts'
import { nameKey } from '../../../src/domain/text.ts'
import type { ApiResponse } from '../../app/api.ts'
import { useServices, useSlotRecord, useWatchState } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { useRequest, useResource } from '../../app/resource.ts'
import { recordOf } from '../../app/slot-records.ts'
import { CancelButton, Dialog } from '../dialogs/dialog.tsx'
import { useShowUndoable } from '../dialogs/messages.tsx'
import { changedFields } from '../forms/entries.ts'
import { ChangedNote, Field, TextField } from '../forms/field.tsx'
import { useChangedText, useEntered, useFieldState } from '../forms/field-state.ts'
import { focused } from '../forms/focused.ts'
import { Form } from '../forms/form.tsx'
import type { Sending } from '../forms/use-edit.tsx'
import { useRemoval } from '../forms/use-removal.ts'
import { Loaded } from '../loaded.tsx'
import {
  type ChosenPerformer,
  colorName,
  emptyRecord,
  formatPerformer,
  frequencyField,
  parsePerformer,
  presentSlot,
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
  // Messages must not change the form.
  const [first] = useState(opened)
  const { slot, version, placeholder_id } = first
  const latest = useWatchState(({ slotRecords }) => recordOf(slotRecords, holderOf(first)) ?? slotRecords.get(slot))
  const finish = (text: string, undoId?: string) => {
    onClose()
    showUndoable(text, [undoId])
  }
  const send = async (values: FormData, { record, before }: Sending<SlotRecord>): Promise<ApiResponse<string>> => {
    const at = presentSlot(record, watch.get())
    const change = changedFields(toSlotChange(before, record), toSlotChange(values, record))
    const response = await api.write('PUT', `/api/slots/${at}/`, change, 'object', versionOf(record))
    if (!response.ok) return response
    const { performer } = response.body
    const isAssigned = 'performer_id' in change || 'performer_name' in change
    const text = isAssigned ? assignedText(at, performer?.name ?? null) : t('slot.saved', { slot: at })
    return { ...response, body: text }
  }
  const removeEntry = useRemoval(first as SlotRecord | null, (seen) => {
    const record = seen ?? emptyRecord(slot)
    return api.write(
      'DELETE',
      `/api/slots/${presentSlot(record, watch.get())}/`,
      undefined,
      'nothing',
      versionOf(record),
    )
  })
  const clear = async () => {
    const response = await request.send(removeEntry)
    if (response?.ok) finish(t('slot.cleared', { slot: presentSlot(first, watch.get()) }), response.undoId)
  }
  return (
    <Form
      action={t('slot.save')}
      request={request}
      edit={{
        address: `/api/slots/${slot}/`,
        record: first,
        latest,
        // An empty slot has no record.
        read: (current) => (current as SlotRecord | null) ?? emptyRecord(slot),
        describe: describeEquipment,
      }}
      send={send}
      onDone={finish}
      others={
        <>
          <CancelButton />
          {version === 0 && placeholder_id === null ? null : (
            <button
              type="button"
              className="choice"
              data-tone="alarm"
              disabled={request.isSending}
              onClick={() => void clear()}
            >
              {t('slot.clear')}
            </button>
          )}
        </>
      }
    >
      {(record) => <SlotFields {...{ record, performers }} isDisabled={request.isSending} />}
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

function assignedText(slot: number, name: string | null): string {
  return name === null ? t('slot.unassigned', { slot }) : t('slot.assigned', { slot, name: plainText(name) })
}

function describeEquipment(before: SlotRecord, { slot, title, ...after }: SlotRecord): string | null {
  const isOther = before.channel_id !== after.channel_id || before.placeholder_id !== after.placeholder_id
  return isOther ? t('slot.nowHolds', { slot, title: plainText(title ?? t('card.none')) }) : null
}

interface SlotFieldsProps {
  readonly record: SlotRecord
  readonly performers: readonly Performer[]
  readonly isDisabled: boolean
}

function SlotFields({ record, performers, isDisabled }: SlotFieldsProps) {
  const isFollowed = useIsFollowed(record)
  const [performer, setPerformer] = useFieldState('performer', formatPerformer(record.performer))
  const [role, setRole] = useFieldState('role', record.role ?? '')
  /** Saves the form, so that one press is enough. */
  const choose = (chosen: ChosenPerformer | null, form: HTMLFormElement | null) => {
    flushSync(() => {
      setPerformer(formatPerformer(chosen))
      if (chosen === null) setRole('')
    })
    form?.requestSubmit()
  }
  const label = (
    <Field
      name="label"
      label={t('slot.fields.label')}
      hint={t('slot.labelHint')}
      required={false}
      maxLength={255}
      autoComplete="off"
      defaultValue={record.label ?? ''}
    />
  )
  const color = <ColorChoice color={record.color} />
  if (isFollowed) {
    return (
      <>
        {label}
        {color}
      </>
    )
  }
  return (
    <div className="slot-parts">
      <PerformerChoice {...{ performers, isDisabled }} current={parsePerformer(performer)} onChoose={choose} />
      <div className="form">
        <Field
          name="role"
          label={t('slot.fields.role')}
          required={false}
          maxLength={255}
          autoComplete="off"
          value={role}
          onChange={({ target }) => setRole(target.value)}
        />
        {label}
        {color}
        <Field
          name={frequencyField}
          label={t('slot.fields.frequency')}
          hint={t('arrange.placeholder.frequencyHint')}
          required={false}
          inputMode="decimal"
          autoComplete="off"
          defaultValue={record.planned.frequency ?? ''}
        />
        <TextField
          name="note"
          label={t('slot.fields.note')}
          rows={2}
          maxLength={4096}
          defaultValue={record.note ?? ''}
        />
      </div>
    </div>
  )
}

interface PerformerChoiceProps {
  readonly performers: readonly Performer[]
  readonly current: ChosenPerformer | null
  readonly isDisabled: boolean
  onChoose(performer: ChosenPerformer | null, form: HTMLFormElement | null): void
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
    <fieldset className="field" data-label={t('slot.fields.performer')}>
      <legend>{t('slot.fields.performer')}</legend>
      <input type="hidden" name="performer" value={formatPerformer(current)} data-text={current?.name ?? ''} />
      <input
        className="input"
        type="search"
        aria-label={t('slot.search')}
        placeholder={t('slot.search')}
        {...(focusesSearch.current && focused)}
        autoComplete="off"
        maxLength={255}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || name === '' || event.nativeEvent.isComposing) return
          event.preventDefault()
          onChoose(first, event.currentTarget.form)
        }}
      />
      <ul className="assign-list" aria-label={t('performers.list')}>
        {current === null || name !== '' ? null : (
          <li>
            <button
              type="button"
              className="choice"
              disabled={isDisabled}
              onClick={({ currentTarget }) => onChoose(null, currentTarget.form)}
            >
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
              onClick={({ currentTarget }) => onChoose(performer, currentTarget.form)}
            >
              <bdi dir="auto">{plainText(performer.name)}</bdi>
              <span className="assign-notes">{plainText(performer.notes)}</span>
            </button>
          </li>
        ))}
        {isNew ? (
          <li>
            <button
              type="button"
              className="choice"
              disabled={isDisabled}
              onClick={({ currentTarget }) => onChoose({ id: null, name }, currentTarget.form)}
            >
              {t('slot.assignNew', { name: plainText(name) })}
            </button>
          </li>
        ) : null}
      </ul>
      {performers.length === 0 && name === '' ? <p className="hint">{t('slot.noPerformers')}</p> : null}
    </fieldset>
  )
}

function ColorChoice({ color }: Pick<SlotRecord, 'color'>) {
  const [value = color ?? ''] = useEntered('color') ?? []
  const changed = useChangedText('color')
  return (
    <fieldset className="field" data-label={t('slot.fields.color')}>
      <legend>{t('slot.fields.color')}</legend>
      <div className="swatches">
        {(['', ...slotColors] as const).map((choice) => (
          <label key={choice} className="swatch" title={colorName(choice)}>
            <input
              type="radio"
              name="color"
              value={choice}
              style={choice === '' ? undefined : { background: `var(--slot-${choice})` }}
              defaultChecked={value === choice}
            />
            <span className="visually-hidden">{colorName(choice)}</span>
          </label>
        ))}
      </div>
      <ChangedNote text={changed} />
    </fieldset>
  )
}
