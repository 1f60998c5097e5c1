import { useState } from 'react'
import type { Performer } from '../../../src/contract/performers.ts'
import type { SlotRecord } from '../../../src/contract/slots.ts'
import type { Api, ApiResponse } from '../../app/api.ts'
import { useServices } from '../../app/context.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { Removal } from '../../parts/dialogs/dialog.tsx'
import { FormDialog } from '../../parts/dialogs/form-dialog.tsx'
import { useShowMessage } from '../../parts/dialogs/messages.tsx'
import { Field, TextField } from '../../parts/forms/field.tsx'
import { PerformerForm } from './performer-form.tsx'
import { type Cast, changeSlot } from './use-cast.ts'

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
      return <AssignSlot performer={question.performer} {...rest} />
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
      record={performer}
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

function AssignSlot({ performer, onDone, onClose }: Omit<DialogProps, 'cast'> & { readonly performer: Performer }) {
  const { api } = useServices()
  const showMessage = useShowMessage()
  const name = plainText(performer.name)
  const send = (values: FormData) => changeSlot(api, Number(values.get('slot')), { performer_id: performer.id })
  const done = async ({ slot }: SlotRecord) => {
    onClose()
    showMessage({ text: t('performers.assigned', { name, unit: t('cast.slot', { slot: String(slot) }) }) })
    await onDone()
  }
  return (
    <FormDialog
      title={t('performers.assignTitle', { name })}
      action={t('performers.assignAction')}
      {...{ send, onClose }}
      onDone={done}
    >
      <Field
        name="slot"
        label={t('cast.column.slot')}
        hint={t('performers.slotHint')}
        type="number"
        min={1}
        max={65_535}
        required={true}
      />
    </FormDialog>
  )
}
