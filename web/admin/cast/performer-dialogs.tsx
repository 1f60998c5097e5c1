import { useState } from 'react'
import type { Performer } from '../../../src/contract/performers.ts'
import type { Api, ApiResponse } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { type Assignment, assign, type Cast, unitName } from '../../parts/channels/assignments.ts'
import { FormDialog, Removal } from '../../parts/dialogs/dialog.tsx'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { SelectField, TextField } from '../../parts/forms/field.tsx'
import { PerformerForm } from './performer-form.tsx'

export type PerformerQuestion =
  | { readonly kind: 'add' | 'addMany' }
  | { readonly kind: 'change' | 'assign' | 'remove'; readonly performer: Performer }

interface DialogProps {
  readonly cast: Cast
  onDone(): Promise<void>
  onClose(): void
}

export function PerformerDialog({ question, cast, ...rest }: DialogProps & { readonly question: PerformerQuestion }) {
  switch (question.kind) {
    case 'add':
      return <PerformerForm performer={null} {...rest} />
    case 'addMany':
      return <AddPerformers known={cast.performers} {...rest} />
    case 'change':
      return <PerformerForm performer={question.performer} {...rest} />
    case 'assign':
      return <AssignUnit performer={question.performer} cast={cast} {...rest} />
    case 'remove':
      return <Remove performer={question.performer} {...rest} />
    default:
      return question satisfies never
  }
}

function Remove({ performer, onDone, onClose }: Omit<DialogProps, 'cast'> & { readonly performer: Performer }) {
  const name = plainText(performer.name)
  return (
    <Removal
      title={t('performers.removeTitle', { name })}
      action={t('performers.remove')}
      done={t('performers.removed', { name })}
      path={`/api/performers/${performer.id}/`}
      {...{ onDone, onClose }}
    >
      <p>{t('performers.removeConsequence')}</p>
    </Removal>
  )
}

interface AddPerformersProps {
  readonly known: readonly Performer[]
  onDone(): Promise<void>
  onClose(): void
}

function AddPerformers({ known, onDone, onClose }: AddPerformersProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const [text, setText] = useState('')
  const send = async (): Promise<ApiResponse<number>> => {
    const drafts = newPerformers(text, known)
    const { added, problem } = await addAll(api, drafts)
    if (problem === null) return { ok: true, body: added }
    const left = drafts.slice(added)
    setText(left.map(({ name, notes }) => (notes === '' ? name : `${name}\t${notes}`)).join('\n'))
    await onDone()
    return {
      ok: false,
      problem: {
        ...problem,
        field: 'names',
        detail: t('performers.notAdded', { left: left.length, reason: problem.detail }),
      },
    }
  }
  const done = async (added: number) => {
    onClose()
    showMessage({ text: t('performers.addedMany', { count: added }) })
    await onDone()
  }
  return (
    <FormDialog
      title={t('performers.addManyTitle')}
      action={t('performers.addManyAction')}
      check={() =>
        newPerformers(text, known).length === 0
          ? { kind: 'refused', field: 'names', detail: t('performers.namesMissing') }
          : null
      }
      {...{ send, onClose }}
      onDone={done}
    >
      <TextField
        name="names"
        label={t('performers.names')}
        hint={t('performers.namesHint')}
        rows={10}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
    </FormDialog>
  )
}

type Draft = Pick<Performer, 'name' | 'notes'>

function newPerformers(text: string, known: readonly Performer[]): readonly Draft[] {
  const names = new Set(known.map(({ name }) => name))
  return text.split('\n').flatMap((line) => {
    const [name = '', ...notes] = line.split('\t').map((part) => part.trim())
    if (name === '' || names.has(name)) return []
    names.add(name)
    return [{ name, notes: notes.filter((note) => note !== '').join(' ') }]
  })
}

/** Stops at the first error. */
async function addAll(api: Api, drafts: readonly Draft[]) {
  for (const [added, draft] of drafts.entries()) {
    const response = await api.write('POST', '/api/performers/', draft, 'object')
    if (!response.ok) return { added, problem: response.problem }
  }
  return { added: drafts.length, problem: null }
}

interface AssignUnitProps {
  readonly performer: Performer
  readonly cast: Cast
  onDone(): Promise<void>
  onClose(): void
}

function AssignUnit({ performer, cast, onDone, onClose }: AssignUnitProps) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const name = plainText(performer.name)
  const send = (values: FormData) =>
    assign(api, cast, { performer: performer.id, wireless_unit: Number(values.get('wireless_unit')) })
  const done = async ({ wireless_unit }: Assignment) => {
    onClose()
    showMessage({ text: t('performers.assigned', { name, unit: unitName(cast.units, wireless_unit) }) })
    await onDone()
  }
  const options = unitOptions(cast, performer.id)
  return (
    <FormDialog
      title={t('performers.assignTitle', { name })}
      action={t('performers.assignAction')}
      check={(values) =>
        values.get('wireless_unit') === ''
          ? { kind: 'refused', field: 'wireless_unit', detail: t('performers.unitMissing') }
          : null
      }
      {...{ send, onClose }}
      onDone={done}
    >
      <SelectField
        name="wireless_unit"
        label={t('performers.fieldUnit')}
        hint={options.length === 0 ? t('performers.noUnits') : t('performers.unitHint')}
        options={[{ value: '', text: t('performers.noUnit') }, ...options]}
      />
    </FormDialog>
  )
}

/** Unassigned units first, then by slot. `own` is the performer's id. */
function unitOptions({ units, assignments, performers }: Cast, own: number) {
  const performerOf = new Map(assignments.map(({ wireless_unit, performer }) => [wireless_unit, performer]))
  return units
    .filter(({ id }) => performerOf.get(id) !== own)
    .toSorted(
      (a, b) =>
        Number(performerOf.has(a.id)) - Number(performerOf.has(b.id)) ||
        (a.slot ?? Number.MAX_SAFE_INTEGER) - (b.slot ?? Number.MAX_SAFE_INTEGER) ||
        a.id - b.id,
    )
    .map(({ id }) => {
      const performer = performers.find((performer) => performer.id === performerOf.get(id))
      const unit = unitName(units, id)
      return {
        value: String(id),
        text: performer === undefined ? unit : t('performers.assignedTo', { unit, name: plainText(performer.name) }),
      }
    })
}
