import { useState } from 'react'
import type { PlaceholderBody } from '../../src/contract/placeholders.ts'
import { placeholderKinds } from '../../src/contract/values.ts'
import type { ApiResponse, Problem } from '../app/api.ts'
import type { Edit } from '../app/arrangement.ts'
import { useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { type RequestState, useRequest } from '../app/resource.ts'
import { CancelButton, Dialog } from '../parts/dialogs/dialog.tsx'
import { changedFields } from '../parts/forms/entries.ts'
import { Field, SelectField, TextField } from '../parts/forms/field.tsx'
import { useFieldState } from '../parts/forms/field-state.ts'
import { focused } from '../parts/forms/focused.ts'
import { Form } from '../parts/forms/form.tsx'
import type { Sending } from '../parts/forms/use-edit.tsx'
import { useRemoval } from '../parts/forms/use-removal.ts'
import { toMegahertz } from '../parts/slots/slot-entries.ts'
import type { SlotContent } from './tiles.tsx'
import type { Edits } from './use-edits.ts'

interface PlaceholderDialogProps {
  readonly slot: number
  readonly contents: ReadonlyMap<number, SlotContent>
  readonly edits: Edits
  nameOf(slot: number): string
  onAdded(slot: number): void
  onClose(): void
}

export function PlaceholderDialog({ slot, contents, edits, nameOf, onAdded, onClose }: PlaceholderDialogProps) {
  const content = contents.get(slot)
  // Fixed when the dialog opens, because messages must not change the form.
  const [before] = useState(content?.kind === 'placeholder' ? content.placeholder : null)
  const latest = useWatchState(({ placeholders }) => placeholders.find(({ id }) => id === before?.id) ?? null)

  const check = (values: FormData): Problem | null => {
    const { slot: to } = toFields(values)
    if (to === before?.slot || !contents.has(to)) return null
    const detail = t('arrange.placeholder.slotTaken', { slot: to, name: nameOf(to) })
    return { kind: 'refused', field: 'slot', detail }
  }
  const send = (values: FormData, { record, before }: Sending<PlaceholderBody | null>): Promise<ApiResponse<Edit>> => {
    if (record === null)
      return edits.send({ type: 'add_placeholder', placeholder: { id: 0, version: 0, ...toFields(values) } })
    const after = { ...record, ...changedFields(toFields(before), toFields(values)) }
    return edits.send({ type: 'change_placeholder', before: record, after })
  }
  const done = (edit: Edit) => {
    onClose()
    if (edit.type === 'add_placeholder') onAdded(edit.placeholder.slot)
  }
  const request = useRequest()
  return (
    <Dialog
      title={before === null ? t('arrange.placeholder.add') : t('arrange.placeholder.edit', { slot: before.slot })}
      onClose={onClose}
    >
      <Form
        action={before === null ? t('arrange.placeholder.addAction') : t('arrange.placeholder.save')}
        edit={{ address: `/api/placeholders/${before?.id ?? `?slot=${slot}`}`, record: before, latest, canAdd: true }}
        {...{ request, check, send }}
        onDone={done}
        others={
          <>
            <CancelButton />
            {before === null ? null : <RemoveButton placeholder={before} {...{ edits, request, onClose }} />}
          </>
        }
      >
        {(record) => <PlaceholderFields placeholder={record} slot={slot} />}
      </Form>
    </Dialog>
  )
}

interface RemoveButtonProps extends Pick<PlaceholderDialogProps, 'edits' | 'onClose'> {
  readonly placeholder: PlaceholderBody
  readonly request: RequestState
}

function RemoveButton({ placeholder, edits, request, onClose }: RemoveButtonProps) {
  const remove = useRemoval(placeholder, (seen) => edits.send({ type: 'delete_placeholder', placeholder: seen }))
  const press = async () => {
    const response = await request.send(remove)
    if (response?.ok) onClose()
  }
  return (
    <button
      type="button"
      className="choice"
      data-tone="alarm"
      disabled={request.isSending}
      onClick={() => void press()}
    >
      {t('arrange.placeholder.remove')}
    </button>
  )
}

function PlaceholderFields({ placeholder, slot }: { placeholder: PlaceholderBody | null; slot: number }) {
  const [kind, setKind] = useFieldState('kind', placeholder?.kind ?? 'wireless')
  return (
    <>
      <p className="hint">{t('arrange.placeholder.intro')}</p>
      <div className="field-columns">
        <SelectField
          name="kind"
          label={t('arrange.placeholder.kind')}
          value={kind}
          onChange={({ target }) => setKind(target.value)}
          options={placeholderKinds.map((value) => ({ value, text: t(`arrange.placeholder.kinds.${value}`) }))}
        />
        <Field
          name="name"
          label={t('arrange.placeholder.name')}
          defaultValue={placeholder?.name}
          required={false}
          {...focused}
          autoComplete="off"
          maxLength={255}
        />
        {kind === 'wireless' || kind === 'iem' ? (
          <Field
            name="frequency"
            label={t('arrange.placeholder.frequency')}
            hint={t('arrange.placeholder.frequencyHint')}
            defaultValue={placeholder?.frequency ?? undefined}
            required={false}
            inputMode="decimal"
            autoComplete="off"
          />
        ) : null}
        <Field
          name="slot"
          label={t('arrange.placeholder.slot')}
          type="number"
          min={1}
          max={65_535}
          defaultValue={placeholder?.slot ?? slot}
        />
      </div>
      <TextField name="note" label={t('arrange.placeholder.note')} rows={2} defaultValue={placeholder?.note} />
    </>
  )
}

function toFields(values: FormData) {
  const text = (name: string) => String(values.get(name) ?? '').trim()
  return {
    slot: Number(text('slot')),
    kind: placeholderKinds.find((kind) => kind === text('kind')) ?? 'wireless',
    name: text('name'),
    frequency: toMegahertz(text('frequency')),
    note: text('note'),
  }
}
