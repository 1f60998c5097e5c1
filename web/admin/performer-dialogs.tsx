/** Questions about performers: a new one, other facts, what they wear, none any more. */

import type { Performer } from '../../src/model/hardware.ts'
import { type Answer, isObject } from '../api.ts'
import { useSurroundings } from '../context.ts'
import { plainText } from '../format.ts'
import { Removal } from '../parts/deed-dialog.tsx'
import { Field, SelectField, TextField, TickField } from '../parts/field.tsx'
import { FormDialog } from '../parts/form-dialog.tsx'
import { useSay } from '../parts/messages.tsx'
import { smallPicture } from '../small-picture.ts'
import { words } from '../words.ts'
import { AddPerformers } from './add-performers.tsx'
import { assign, type Cast, unitName, type Wearing } from './wearing.ts'

const texts = words.performers

const path = '/api/performers/'

export type PerformerQuestion =
  | { readonly kind: 'add' | 'addMany' }
  | { readonly kind: 'change' | 'assign' | 'remove'; readonly performer: Performer }

interface DialogProps {
  readonly cast: Cast
  onDone(): Promise<void>
  onClose(): void
}

export function PerformerDialog({ question, ...rest }: DialogProps & { readonly question: PerformerQuestion }) {
  switch (question.kind) {
    case 'add':
      return <PerformerForm performer={null} {...rest} />
    case 'addMany':
      return <AddPerformers known={rest.cast.performers} {...rest} />
    case 'change':
      return <PerformerForm performer={question.performer} {...rest} />
    case 'assign':
      return <Assign performer={question.performer} {...rest} />
    case 'remove':
      return <Remove performer={question.performer} {...rest} />
    default:
      return question satisfies never
  }
}

/** Null makes a new one. */
function PerformerForm({ performer, onDone, onClose }: DialogProps & { performer: Performer | null }) {
  const { api } = useSurroundings()
  const say = useSay()
  const send = async (values: FormData): Promise<Answer<Performer>> => {
    const picture = await pictureOf(values)
    if (!picture.ok) return picture
    const body = { name: String(values.get('name')).trim(), notes: values.get('notes'), picture: picture.body }
    return performer === null
      ? api.write('POST', path, body, isObject<Performer>)
      : api.write('PUT', `${path}${performer.id}/`, body, isObject<Performer>)
  }
  const done = async ({ name }: Performer) => {
    onClose()
    say({ text: (performer === null ? texts.added : texts.changed)(plainText(name)) })
    await onDone()
  }
  return (
    <FormDialog
      title={performer === null ? texts.add : texts.changeTitle(plainText(performer.name))}
      action={performer === null ? texts.addAction : texts.save}
      {...{ send, onClose }}
      onDone={done}
    >
      <Field name="name" label={texts.fieldName} defaultValue={performer?.name} autoComplete="off" maxLength={255} />
      <TextField name="notes" label={texts.fieldNotes} defaultValue={performer?.notes} rows={3} maxLength={4096} />
      <Field name="picture" label={texts.fieldPicture} hint={texts.pictureHint} type="file" accept="image/*" />
      {performer === null || performer.picture === null ? null : (
        <TickField name="no_picture" label={texts.noPicture} />
      )}
    </FormDialog>
  )
}

/** Undefined leaves the picture as it is. */
async function pictureOf(values: FormData): Promise<Answer<string | null | undefined>> {
  const file = values.get('picture')
  if (!(file instanceof File) || file.size === 0) {
    return { ok: true, body: values.has('no_picture') ? null : undefined }
  }
  const picture = await smallPicture(file)
  if (picture !== null) return { ok: true, body: picture }
  return { ok: false, problem: { kind: 'refused', field: 'picture', detail: texts.notAPicture } }
}

type AboutPerformer = DialogProps & { readonly performer: Performer }

function Assign({ performer, cast, onDone, onClose }: AboutPerformer) {
  const { api } = useSurroundings()
  const say = useSay()
  const name = plainText(performer.name)
  const send = (values: FormData) =>
    assign(api, cast, { performer: performer.id, wireless_unit: Number(values.get('wireless_unit')) })
  const done = async ({ wireless_unit }: Wearing) => {
    onClose()
    say({ text: texts.assigned(name, unitName(cast.units, wireless_unit)) })
    await onDone()
  }
  const options = unitOptions(cast, performer.id)
  return (
    <FormDialog
      title={texts.assignTitle(name)}
      action={texts.assignAction}
      check={(values) =>
        values.get('wireless_unit') === ''
          ? { kind: 'refused', field: 'wireless_unit', detail: texts.unitMissing }
          : null
      }
      {...{ send, onClose }}
      onDone={done}
    >
      <SelectField
        name="wireless_unit"
        label={texts.fieldUnit}
        hint={options.length === 0 ? texts.noUnits : texts.unitHint}
        options={[{ value: '', text: texts.noUnit }, ...options]}
      />
    </FormDialog>
  )
}

/** In the order of the wall; those that nobody wears come first. What this performer wears is left out. */
function unitOptions({ units, wearings, performers }: Cast, own: number) {
  const wearerOf = new Map(wearings.map(({ wireless_unit, performer }) => [wireless_unit, performer]))
  return units
    .filter(({ id }) => wearerOf.get(id) !== own)
    .toSorted(
      (a, b) =>
        Number(wearerOf.has(a.id)) - Number(wearerOf.has(b.id)) ||
        (a.slot ?? Number.MAX_SAFE_INTEGER) - (b.slot ?? Number.MAX_SAFE_INTEGER) ||
        a.id - b.id,
    )
    .map(({ id }) => {
      const wearer = performers.find((one) => one.id === wearerOf.get(id))
      const unit = unitName(units, id)
      return { value: String(id), text: wearer === undefined ? unit : texts.wornBy(unit, plainText(wearer.name)) }
    })
}

function Remove({ performer, onDone, onClose }: AboutPerformer) {
  const name = plainText(performer.name)
  return (
    <Removal
      title={texts.removeTitle(name)}
      action={texts.remove}
      done={texts.removed(name)}
      path={`${path}${performer.id}/`}
      {...{ onDone, onClose }}
    >
      <p>{texts.removeFollows}</p>
    </Removal>
  )
}
