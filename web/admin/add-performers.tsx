/** Adds performers from a pasted list of names. */

import { useState } from 'react'
import type { Performer } from '../../src/contract/resources/performers.ts'
import type { Api, ApiResponse } from '../app/api.ts'
import { useServices } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { TextField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useShowMessage } from '../parts/messages.tsx'

interface AddPerformersProps {
  readonly known: readonly Performer[]
  onDone(): Promise<void>
  onClose(): void
}

export function AddPerformers({ known, onDone, onClose }: AddPerformersProps) {
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

/** Adds the performers one by one; stops at the first error. */
async function addAll(api: Api, drafts: readonly Draft[]) {
  for (const [added, draft] of drafts.entries()) {
    const response = await api.write('POST', '/api/performers/', draft, 'object')
    if (!response.ok) return { added, problem: response.problem }
  }
  return { added: drafts.length, problem: null }
}
